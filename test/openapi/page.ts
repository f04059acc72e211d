import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The path of Chromium or Chrome: the one in CHROMIUM, or else the first one found. */
export const browserPath =
  process.env["CHROMIUM"] ||
  [
    ...(process.env["PATH"] ?? "")
      .split(delimiter)
      .flatMap((folder) => names.map((name) => join(folder, name))),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    // The browser that `npx playwright-core install chromium` installs.
    chromium.executablePath(),
  ].find(existsSync);

/** Opens the page that `npm start` serves, in a browser that can reach only its origin. */
export async function openApiPage(url: string) {
  if (browserPath === undefined)
    throw new Error("No Chromium or Chrome on the PATH or in CHROMIUM");
  const browser = await chromium.launchPersistentContext("", {
    executablePath: browserPath,
    // An app window: a normal one has an address bar, which costs two more pages.
    args: ["--app=data:text/html,"],
    viewport: { width: 1280, height: 1170 },
  });
  const page = browser.pages()[0] ?? (await browser.newPage());
  const otherOrigins: string[] = [];
  const errors: string[] = [];
  await page.route(
    ({ origin, protocol }) => origin !== new URL(url).origin && protocol !== "data:",
    (route) => {
      otherOrigins.push(route.request().url());
      return route.abort();
    },
  );
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(url);
  await page.locator(".opblock").first().waitFor();
  // Otherwise colours would be those of a moment.
  await page.addStyleTag({ content: "* { transition: none !important }" });
  // As long as vitest's polls. Only the start of a browser may take longer.
  browser.setDefaultTimeout(15_000);

  const operation = (operationId: string) =>
    page.locator(`[id="operations-orders-${operationId}"]`);
  return {
    page,
    otherOrigins,
    errors,
    operation,
    orderId: operation("cancelOrder").locator("tr[data-param-name=orderId] input"),
    close: () => browser.close(),
    async unfold(operationId: string) {
      await operation(operationId).locator(".opblock-summary-control").click();
      await operation(operationId).locator("button.execute").waitFor();
    },
    /** Clicks "Execute" and returns the status and the body that the page then shows. */
    async execute(operationId: string) {
      const block = operation(operationId);
      // Otherwise the previous response could be taken for this one.
      const clear = block.locator("button.btn-clear");
      if (await clear.isVisible()) await clear.click();
      await block.locator("button.execute").click();
      const response = block.locator(".live-responses-table .response");
      await response.waitFor();
      const body = response.locator(".highlight-code code");
      return {
        status: (await response.locator(".response-col_status").innerText()).trim(),
        body: (await body.count()) > 0 ? await body.first().innerText() : undefined,
      };
    },
  };
}
