import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type LocalStack, startLocalStack } from "../../infra/local/local-stack.ts";
import { machineHas } from "../helpers/machine.ts";
import { document } from "../helpers/openapi/document.ts";
import { generateClient, runProgram } from "../helpers/openapi/generated-client.ts";
import { startLaterVersion } from "../helpers/openapi/later-version.ts";
import { ApiPage } from "../helpers/openapi/page.ts";

let stack: LocalStack;
beforeAll(async () => {
  stack = await startLocalStack({ port: 0, assembly: inject("assembly"), log: () => {} });
});
afterAll(() => stack?.stop());

describe("a TypeScript client generated from the document", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "client-"));
    await generateClient(directory);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const run = (program: string): Promise<unknown> =>
    runProgram(directory, program, { BASE_URL: stack.baseUrl, API_KEY: stack.apiKey });

  test("lists and cancels orders, every int64 exact", async () => {
    const program = `
      import { cancelOrder, client, listOrders } from "./client.ts";
      import { parseExactly } from "./exactly.js";

      client.configure({ serverUrl: process.env["BASE_URL"] ?? "", auth: { bearer: process.env["API_KEY"] ?? "" } });
      client.use({
        onResponse: (response) => {
          response.json = async () => parseExactly(await response.text());
        },
      });

      const { data: orders = [] } = await listOrders();
      const largest = orders.find(({ id = 0 }) => BigInt(id) === 9223372036854775807n);
      const path = { orderId: largest?.id ?? 0 };
      const first = await cancelOrder({ path });
      const second = await cancelOrder({ path });
      const absent = await cancelOrder({ path: { orderId: 404 } });
      client.auth.bearer("no key");
      const stranger = await listOrders();
      console.log(
        JSON.stringify({
          ids: orders.map(({ id }) => String(id)).sort(),
          petId: String(largest?.petId),
          statuses: [first, second, absent, stranger].map(({ response }) => response.status),
          codes: [first, second, absent, stranger].map(({ error }) => error?.code ?? null),
          again: second.error?.code === "order_already_cancelled",
        }),
      );
    `;
    const printed = await run(program);
    expect(printed).toEqual({
      ids: ["-9223372036854775808", "1", "10", "2", "3", "4", "5", "6", "7", "9223372036854775807"],
      petId: "9223372036854775807",
      statuses: [204, 409, 404, 401],
      codes: [null, "order_already_cancelled", "order_not_found", "unauthorized"],
      again: true,
    });
  });

  test("reads a field and an error code that only a later version has", async () => {
    const later = await startLaterVersion();
    const program = `
      import { cancelOrder, client, listOrders } from "./client.ts";

      client.configure({ serverUrl: process.env["BASE_URL"] ?? "", auth: { bearer: "a key" } });
      const list = await listOrders();
      const cancellation = await cancelOrder({ path: { orderId: 1 } });
      console.log(JSON.stringify({ orders: list.data?.length, code: cancellation.error?.code }));
    `;
    const printed = await runProgram(directory, program, { BASE_URL: later.baseUrl }).finally(later.stop);
    expect(printed).toEqual({ orders: 1, code: "order_being_packed" });
  });

  test("does not compile with a field that the document does not have", async () => {
    const wrong = `
      import { listOrders } from "./client.ts";
      const { data = [] } = await listOrders();
      data[0]?.status;
    `;
    await expect(run(wrong)).rejects.toThrow(/'status' does not exist/);
  });
});

describe.runIf(machineHas("Chromium or Chrome", "the API page"))("the page at / in a browser", () => {
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
    expect(await page.page.locator(".opblock-summary-description").allInnerTexts()).toEqual(summaries);
  });

  test("lists the sample orders, digit for digit, with the local key filled in", async () => {
    await page.unfold("listOrders");
    const { status, body } = await page.execute("listOrders");
    expect(status).toBe("200");
    expect(JSON.parse(body ?? "")).toHaveLength(10);
    expect(body).toContain('"id": -9223372036854775808');
    expect(body).toContain('"petId": 9007199254740993');
  });

  test("cancels the order of its own example: 204", async () => {
    await page.unfold("cancelOrder");
    expect(await page.execute("cancelOrder")).toEqual({ status: "204", body: undefined });
  });

  test("cancels an order whose id is beyond 2^53: 204, and 409 the second time", async () => {
    const orderId = page.operation("cancelOrder").locator("tr[data-param-name=orderId] input");
    await orderId.fill("-9223372036854775808");
    expect(await page.execute("cancelOrder")).toEqual({ status: "204", body: undefined });
    const { status, body } = await page.execute("cancelOrder");
    expect(status).toBe("409");
    expect(JSON.parse(body ?? "")).toMatchObject({ code: "order_already_cancelled" });
  });

  test("links to the changelog, which is served beside it", async () => {
    const link = await page.page.locator(".info a", { hasText: "changelog" }).getAttribute("href");
    const response = await fetch(new URL(link ?? "", page.page.url()));
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^# Changelog\n/);
  });

  test("requests nothing from other origins, and reports no error but the 409", () => {
    expect(page.otherOrigins).toEqual([]);
    expect(page.errors).toEqual([expect.stringContaining("409 (Conflict)")]);
  });
});
