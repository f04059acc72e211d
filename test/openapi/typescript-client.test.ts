import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type LocalStack, startLocalStack } from "../../infra/local/local-stack.ts";
import { OrdersClient } from "../../shared/clients/orders-client.ts";
import { orderFields } from "../../shared/order.ts";
import { documentFile } from "../helpers/openapi/document.ts";
import { readAssembly } from "../helpers/read-assembly.ts";

const page = await readFile(new URL("API.md", documentFile), "utf8");
const [usage = "", widened = ""] = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);

const folder = await mkdtemp(join(tmpdir(), "typescript-client-"));
afterAll(() => rm(folder, { recursive: true }));
await writeFile(join(folder, "package.json"), '{"type":"module"}');
await copyFile(new URL("clients/orders-client.ts", documentFile), join(folder, "orders-client.ts"));

/** Compiles a file beside the client. @returns what the compiler says. */
async function compile(source: string): Promise<string> {
  const file = `${randomUUID()}.ts`;
  await writeFile(join(folder, file), source);
  const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
  const options = "--strict --noEmit --target esnext --module nodenext --lib esnext,dom";
  const args = [tsc, ...options.split(" "), "--allowImportingTsExtensions", "--types", "", file];
  const compiled = promisify(execFile)(process.execPath, args, { cwd: folder });
  return await compiled.then(
    ({ stdout, stderr }) => stdout + stderr,
    ({ stdout }) => stdout,
  );
}

test("the client to copy has the fields of the document and no other", async () => {
  const values = {
    int64: "9223372036854775807n",
    "date-time": '"2026-12-24T12:00:00Z"',
    boolean: "true",
  };
  const order = orderFields.map(({ name, type }) => `${name}: ${values[type]}`).join(", ");
  const problems = await compile(`import type { Order } from "./orders-client.ts";
    export const order: Required<Order> = { ${order} };
    // @ts-expect-error: no Order has a status.
    order.status;`);
  expect(problems).toBe("");
});

test("the type that API.md widens for 64-bit integers compiles", async () => {
  const generated = orderFields
    .map(({ name, type }) => `${name}?: ${type === "int64" ? "number" : "never"};`)
    .join(" ");
  const problems = await compile(`interface components { schemas: { Order: { ${generated} } } }
    ${widened}
    export const widened: Order = { id: 9223372036854775807n, quantity: 1 };
    // @ts-expect-error: an id is no string.
    widened.id = "1";`);
  expect(problems).toBe("");
});

test("the use of the client in API.md compiles", async () => {
  const problems = await compile(`declare const process: { env: { API_KEY?: string } };\n${usage}`);
  expect(problems).toBe("");
});

describe("the client in TypeScript", () => {
  let stack: LocalStack;
  beforeAll(async () => {
    stack = await startLocalStack(readAssembly, { port: 0, log: () => {} });
  });
  afterAll(() => stack?.stop());

  const client = (apiKey = stack.apiKey) => new OrdersClient(`${stack.baseUrl}/`, apiKey);

  test("lists orders of the running service, every int64 exact", async () => {
    const ids = (await client().listOrders()).map(({ id }) => id);
    expect(ids).toHaveLength(10);
    expect(ids).toEqual(expect.arrayContaining([1, 9223372036854775807n]));
  });

  test("takes an order that is cancelled already for cancelled", async () => {
    await client().cancelOrder(9223372036854775807n);
    await expect(client().cancelOrder(9223372036854775807n)).resolves.toBeUndefined();
  });

  test("fails with the status and code of the service", async () => {
    await expect(client().cancelOrder(404)).rejects.toMatchObject({
      status: 404,
      code: "order_not_found",
    });
    await expect(client("no key").listOrders()).rejects.toMatchObject({
      status: 401,
      code: "unauthorized",
    });
  });
});

test.each([2 ** 53, 1e21, 1.5, Number.NaN])(
  "the client in TypeScript cancels no order for %s, which may have lost digits",
  async (id) => {
    const fetch = vi.spyOn(globalThis, "fetch");
    const orders = new OrdersClient("http://localhost/v1", "key");
    await expect(orders.cancelOrder(id)).rejects.toThrow(RangeError);
    expect(fetch).not.toHaveBeenCalled();
    fetch.mockRestore();
  },
);

test("the client in TypeScript sends nothing with a key that no header can hold", async () => {
  const fetch = vi.spyOn(globalThis, "fetch");
  const orders = new OrdersClient("http://localhost/v1", "a\nb");
  await expect(orders.listOrders()).rejects.toThrow(TypeError);
  expect(fetch).not.toHaveBeenCalled();
  fetch.mockRestore();
});

describe("the client in TypeScript, when the service", () => {
  /** Has the service respond in this way, without waiting; undefined is a list that breaks off. */
  async function call(...responses: ([number, string, Record<string, string>?] | undefined)[]) {
    const pauses: number[] = [];
    vi.stubGlobal("setTimeout", (resolve: () => void, milliseconds: number) => {
      pauses.push(milliseconds);
      resolve();
    });
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    vi.stubGlobal("fetch", async () => {
      const [status, body, headers = {}] = responses.shift() ?? [];
      return new Response(body ?? brokenOff(), { status: status ?? 200, headers });
    });
    const outcome = await new OrdersClient("http://host/v1", "key")
      .listOrders()
      .catch((error: unknown) => error);
    vi.restoreAllMocks();
    return { outcome, pauses, left: responses.length };
  }
  const brokenOff = () =>
    new ReadableStream({ start: (list) => list.error(new TypeError("terminated")) });
  const failure = (code: string): string => JSON.stringify({ code, message: "", status: 0 });

  test("fails for a while, waits longer each time, at least as long as a 429 says", async () => {
    const busy: [number, string] = [503, failure("service_unavailable")];
    const throttled: [number, string, Record<string, string>] = [
      429,
      failure("too_many_requests"),
      { "Retry-After": "7" },
    ];
    const called = await call(busy, undefined, throttled, busy, [200, "[]"]);
    expect(called).toEqual({ outcome: [], pauses: [500, 1000, 7500, 4000], left: 0 });
  });

  test("ends a list in its middle, asks again", async () => {
    const called = await call([200, '[{"id":1},'], [200, "[]"]);
    expect(called).toEqual({ outcome: [], pauses: [500], left: 0 });
  });

  test("fails with a body that only begins like JSON, has no code", async () => {
    const { outcome } = await call([404, "{oops"]);
    expect(outcome).toMatchObject({ status: 404, code: undefined });
  });

  test("goes on failing, gives up after five attempts with the last failure", async () => {
    const { outcome, left } = await call(
      ...Array<[number, string]>(7).fill([500, failure("internal_error")]),
    );
    expect({ outcome, left }).toMatchObject({
      outcome: { status: 500, code: "internal_error" },
      left: 2,
    });
  });

  test("rejects the request, or AWS does in its own words, does not repeat it", async () => {
    const rejected = await call([403, failure("forbidden")], [200, "[]"]);
    expect(rejected).toMatchObject({ outcome: { status: 403, code: "forbidden" }, left: 1 });
    const byAws = await call([413, "Too large"], [200, "[]"]);
    expect(byAws).toMatchObject({ outcome: { status: 413, code: undefined }, left: 1 });
  });
});
