import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";

/**
 * The path of Chromium or Chrome on this machine, or undefined; the environment variable CHROMIUM
 * overrides it.
 */
export const browserPath = findBrowser();

function findBrowser(): string | undefined {
  if (process.env["CHROMIUM"]) return process.env["CHROMIUM"];
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const onPath = (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((path) => names.map((name) => join(path, name)));
  return [
    ...onPath,
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    // The browser that `npx playwright-core install chromium` installs.
    chromium.executablePath(),
  ].find(existsSync);
}

/** The page that `npm start` serves, in a browser that can reach only the page's own origin. */
export class ApiPage {
  readonly page: Page;
  /** Requests that the page made to other origins. */
  readonly otherOrigins: string[];
  /** Errors of the page and in the browser's console. */
  readonly errors: string[];
  readonly #browser: Browser;

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.page = page;
    this.otherOrigins = [];
    this.errors = [];
  }

  /** @throws Error when there is no browser. */
  static async open(url: string): Promise<ApiPage> {
    if (browserPath === undefined)
      throw new Error("No Chromium or Chrome on the PATH or in CHROMIUM");
    const browser = await chromium.launch({ executablePath: browserPath });
    const page = await browser.newPage({ viewport: { width: 1280, height: 1170 } });
    const opened = new ApiPage(browser, page);
    await page.route(
      ({ origin, protocol }) => origin !== new URL(url).origin && protocol !== "data:",
      (route) => {
        opened.otherOrigins.push(route.request().url());
        return route.abort();
      },
    );
    page.on("pageerror", (error) => opened.errors.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") opened.errors.push(message.text());
    });
    await page.goto(url);
    await page.locator(".opblock").first().waitFor();
    // Otherwise colours would be those of a moment.
    await page.addStyleTag({ content: "* { transition: none !important }" });
    return opened;
  }

  /** The block of an operation, by its operationId. */
  operation(operationId: string): Locator {
    return this.page.locator(`[id="operations-orders-${operationId}"]`);
  }

  /** Opens an operation's block. */
  async unfold(operationId: string): Promise<void> {
    await this.operation(operationId).locator(".opblock-summary-control").click();
    await this.operation(operationId).locator("button.execute").waitFor();
  }

  /** Clicks "Execute" and returns the status and the body that the page then shows. */
  async execute(operationId: string): Promise<{ status: string; body: string | undefined }> {
    const operation = this.operation(operationId);
    // Otherwise the previous response could be taken for this one.
    const clear = operation.locator("button.btn-clear");
    if (await clear.isVisible()) await clear.click();
    await operation.locator("button.execute").click();
    const response = operation.locator(".live-responses-table .response");
    await response.waitFor();
    const body = response.locator(".highlight-code code");
    return {
      status: (await response.locator(".response-col_status").innerText()).trim(),
      body: (await body.count()) > 0 ? await body.first().innerText() : undefined,
    };
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
