// Takes the pictures of the page for README.md, light and dark:
// `node test/openapi/screenshot.ts`.
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { startStack } from "../helpers/start-stack.ts";
import { openApiPage } from "./page.ts";

await using cleanup = new AsyncDisposableStack();
const stack = await startStack(cleanup, { log: () => {} });
const { close, execute, orderId, page, unfold } = await openApiPage(
  new URL("/", stack.baseUrl).href,
);
await page.setViewportSize({ width: 1000, height: 965 });
await unfold("cancelOrder");
await orderId.fill("9223372036854775807");
await execute("cancelOrder");
await execute("cancelOrder");
await page.evaluate('document.querySelector(".opblock").scrollIntoView()');
for (const [colorScheme, name] of [
  ["light", "page.png"],
  ["dark", "page-dark.png"],
] as const) {
  await page.emulateMedia({ colorScheme });
  await page.screenshot({ path: fileURLToPath(new URL(name, import.meta.url)) });
}
// What they say of the operations, which a test compares with the document.
const texts = await page
  .locator(".opblock-summary-description, .opblock-description")
  .allInnerTexts();
const shown = texts.join(" ").replaceAll(/\s+/g, " ").trim();
await writeFile(new URL("page.txt", import.meta.url), `${shown}\n`);
await close();
