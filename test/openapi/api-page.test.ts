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

  test("shows them on a laptop's first screen", async () => {
    const last = await page.page.locator(".opblock").last().boundingBox();
    expect((last?.y ?? Number.NaN) + (last?.height ?? 0)).toBeLessThan(768);
  });

  test("promises no operation that the document hasn't", async () => {
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

  test("cancels an order whose id is beyond 2^53 once", async () => {
    await page.unfold("cancelOrder");
    const orderId = page.operation("cancelOrder").locator("tr[data-param-name=orderId] input");
    await orderId.fill("9223372036854775807");
    expect(await page.execute("cancelOrder")).toEqual({ status: "204", body: undefined });
    const { status, body } = await page.execute("cancelOrder");
    expect(status).toBe("409");
    expect(JSON.parse(body ?? "")).toMatchObject({ code: "order_already_cancelled" });
  });

  test("says what is wrong with an id in place of the last response", async () => {
    const operation = page.operation("cancelOrder");
    await operation.locator("tr[data-param-name=orderId] input").fill("abc");
    await operation.locator("button.execute").click();
    await operation.getByText("Value must be an integer").waitFor();
    expect(await operation.locator(".live-responses-table").count()).toBe(0);
  });

  test("links to a changelog that is there", async () => {
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

  test("has no error but that of the 409 above", () => {
    expect(page.errors).toEqual([expect.stringContaining("409 (Conflict)")]);
  });
});
