import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalStack, startLocalStack } from "../../infra/local/local-stack.ts";
import { reportSkipped } from "../helpers/machine.ts";
import { document } from "../helpers/openapi/document.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { ApiPage, browserPath } from "./page.ts";

let stack: LocalStack;
beforeAll(async () => {
  stack = await startLocalStack(readAssembly, { port: 0, log: () => {} });
});
afterAll(() => stack?.stop());

// CI installs one, so there its absence is a failure.
const hasBrowser = browserPath !== undefined || Boolean(process.env["CI"]);
if (!hasBrowser) reportSkipped("Chromium or Chrome", "the API page");
describe.runIf(hasBrowser)("the page at / in a browser", () => {
  let page: ApiPage;
  beforeAll(async () => {
    page = await ApiPage.open(new URL("/", stack.baseUrl).href);
  });
  afterAll(() => page?.close());

  test("shows every operation of the document", async () => {
    const described = Object.values(document.paths).flatMap(Object.entries);
    const methods = described.map(([method]) => method.toUpperCase());
    expect(await page.page.locator(".opblock-summary-method").allInnerTexts()).toEqual(methods);
    const summaries = described.map(([, { summary }]) => summary);
    expect(await page.page.locator(".opblock-summary-description").allInnerTexts()).toEqual(
      summaries,
    );
  });

  test("shows every operation on a laptop's first screen", async () => {
    const last = await page.page.locator(".opblock").last().boundingBox();
    expect((last?.y ?? Number.NaN) + (last?.height ?? 0)).toBeLessThan(768);
  });

  test("doesn't offer to place an order", async () => {
    expect(await page.page.locator("#reference").innerText()).not.toContain("Place");
  });

  test("lists the sample orders digit for digit with the key that is filled in", async () => {
    await page.unfold("listOrders");
    const { status, body } = await page.execute("listOrders");
    expect(status).toBe("200");
    expect(JSON.parse(body ?? "")).toHaveLength(10);
    expect(body).toContain('"id": 9223372036854775807');
    expect(body).toContain('"petId": 9007199254740993');
  });

  test("cancels an order with an id beyond 2^53 exactly once", async () => {
    await page.unfold("cancelOrder");
    const orderId = page.operation("cancelOrder").locator("tr[data-param-name=orderId] input");
    await orderId.fill("9223372036854775807");
    expect(await page.execute("cancelOrder")).toEqual({ status: "204", body: undefined });
    const { status, body } = await page.execute("cancelOrder");
    expect(status).toBe("409");
    expect(JSON.parse(body ?? "")).toMatchObject({ code: "order_already_cancelled" });
  });

  async function cancelMalformedId(): Promise<void> {
    const operation = page.operation("cancelOrder");
    await operation.locator("tr[data-param-name=orderId] input").fill("abc");
    await operation.locator("button.execute").click();
  }

  test("hides the last response when an id is malformed", async () => {
    const response = page.operation("cancelOrder").locator(".live-responses-table");
    expect(await response.count()).toBe(1);
    await cancelMalformedId();
    await expect.poll(() => response.count()).toBe(0);
  });

  test("says what is wrong with a malformed id", async () => {
    await cancelMalformedId();
    const mistake = page.operation("cancelOrder").getByText("Value must be an integer");
    await expect.poll(() => mistake.isVisible()).toBe(true);
  });

  test("links to the changelog", async () => {
    const link = await page.page.locator(".info a", { hasText: "changelog" }).getAttribute("href");
    const response = await fetch(new URL(link ?? "", page.page.url()));
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^# Changelog\n/);
  });

  test("is not shown inside a page of another origin, which could borrow its key", async () => {
    const other = await page.page.context().browser()?.newPage();
    await other?.setContent(`<iframe src="${new URL("/", stack.baseUrl).href}"></iframe>`);
    await expect.poll(() => other?.frames()[1]?.url()).toMatch(/^chrome-error:/);
    await other?.close();
  });

  test("requests nothing from other origins", () => {
    expect(page.otherOrigins).toEqual([]);
  });

  test("logs no error in the console but that of the rejected cancellation", () => {
    expect(page.errors).toEqual([expect.stringContaining("409 (Conflict)")]);
  });
});
