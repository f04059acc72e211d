import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";

/** A Chromium or Chrome of this machine, or undefined; the environment variable CHROMIUM names any other. */
export const browserPath = findBrowser();

function findBrowser(): string | undefined {
  if (process.env["CHROMIUM"]) return process.env["CHROMIUM"];
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const onPath = (process.env["PATH"] ?? "").split(delimiter).flatMap((path) => names.map((name) => join(path, name)));
  return [
    ...onPath,
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  ].find(existsSync);
}

/** The page that `npm start` serves, in a browser that can reach nothing but this page's own origin. */
export class ApiPage {
  readonly page: Page;
  /** Addresses elsewhere that the page asked for. */
  readonly elsewhere: string[];
  /** What the page or the browser complained about. */
  readonly complaints: string[];
  readonly #browser: Browser;

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.page = page;
    this.elsewhere = [];
    this.complaints = [];
  }

  /** @throws Error when there is no browser. */
  static async open(url: string): Promise<ApiPage> {
    if (browserPath === undefined) throw new Error("There is no Chromium or Chrome on the PATH or in CHROMIUM");
    const browser = await chromium.launch({ executablePath: browserPath });
    const page = await browser.newPage({ viewport: { width: 1280, height: 1170 } });
    const opened = new ApiPage(browser, page);
    await page.route(
      ({ origin, protocol }) => origin !== new URL(url).origin && protocol !== "data:",
      (route) => {
        opened.elsewhere.push(route.request().url());
        return route.abort();
      },
    );
    page.on("pageerror", (error) => opened.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") opened.complaints.push(message.text());
    });
    await page.goto(url);
    await page.locator(".opblock").first().waitFor();
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

  /** Clicks "Execute" and gives the status and the body that the page then shows. */
  async execute(operationId: string): Promise<{ status: string; body: string | undefined }> {
    const operation = this.operation(operationId);
    // Else the last answer could be taken for this one.
    const clear = operation.locator("button.btn-clear");
    if (await clear.isVisible()) await clear.click();
    await operation.locator("button.execute").click();
    const answer = operation.locator(".live-responses-table .response");
    await answer.waitFor();
    const body = answer.locator(".highlight-code code");
    return {
      status: (await answer.locator(".response-col_status").innerText()).trim(),
      body: (await body.count()) > 0 ? await body.first().innerText() : undefined,
    };
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
