// Takes the pictures of the page for README.md and infra/local/README.md, light and dark:
// `node test/openapi/screenshot.ts`.
import { fileURLToPath } from "node:url";
import { startStack } from "../helpers/start-stack.ts";
import { ApiPage } from "./page.ts";

const stack = await startStack({ log: () => {} });
const page = await ApiPage.open(new URL("/", stack.baseUrl).href);
await page.page.setViewportSize({ width: 1000, height: 965 });
await page.unfold("cancelOrder");
const operation = page.operation("cancelOrder");
await operation.locator("tr[data-param-name=orderId] input").fill("9223372036854775807");
await page.execute("cancelOrder");
await page.execute("cancelOrder");
await page.page.evaluate('document.querySelector(".opblock").scrollIntoView()');
for (const [colorScheme, name] of [
  ["light", "page.png"],
  ["dark", "page-dark.png"],
] as const) {
  await page.page.emulateMedia({ colorScheme });
  await page.page.screenshot({ path: fileURLToPath(new URL(name, import.meta.url)) });
}
await page.close();
await stack.stop();
