// Takes the screenshot of the page for infra/local/README.md: `node test/openapi/screenshot.ts`.
import { fileURLToPath } from "node:url";
import { ApiPage } from "../helpers/openapi/page.ts";
import { startStack } from "../helpers/start-stack.ts";

const stack = await startStack({ log: () => {} });
const page = await ApiPage.open(new URL("/", stack.baseUrl).href);
await page.unfold("cancelOrder");
await page
  .operation("cancelOrder")
  .locator("tr[data-param-name=orderId] input")
  .fill("9223372036854775807");
await page.execute("cancelOrder");
await page.execute("cancelOrder");
await page.page.evaluate('document.querySelector(".scheme-container").scrollIntoView()');
await page.page.screenshot({ path: fileURLToPath(new URL("page.png", import.meta.url)) });
await page.close();
await stack.stop();
