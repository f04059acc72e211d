import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type LocalStack, startLocalStack } from "../../infra/local/local-stack.ts";
import { OrdersClient } from "../../shared/clients/orders-client.ts";
import { type ErrorCode, errorBody } from "../../shared/errors.ts";
import { orderFields } from "../../shared/order.ts";
import { documentFile } from "../helpers/openapi/document.ts";
import { readAssembly } from "../helpers/read-assembly.ts";

const page = await readFile(new URL("API.md", documentFile), "utf8");
/** The examples of API.md: a use of the client, and a type that is widened for 64-bit integers. */
const examples = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
const usage = examples[0];
const widened = examples[1];

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

test("the client in TypeScript has the fields of the document and no other", async () => {
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

test("API.md's example in TypeScript compiles", async () => {
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

  test("succeeds when the order is already cancelled", async () => {
    await client().cancelOrder(9223372036854775807n);
    await expect(client().cancelOrder(9223372036854775807n)).resolves.toBeUndefined();
  });

  test("fails with the status and code of the service for an unknown order", async () => {
    const failure = { status: 404, code: "order_not_found" };
    await expect(client().cancelOrder(404)).rejects.toMatchObject(failure);
  });

  test("fails with the status and code of the service for a malformed key", async () => {
    const failure = { status: 401, code: "unauthorized" };
    await expect(client("malformed").listOrders()).rejects.toMatchObject(failure);
  });
});

function spyOnFetch() {
  const spy = vi.spyOn(globalThis, "fetch");
  onTestFinished(() => spy.mockRestore());
  return spy;
}

test.each([2 ** 53, 1e21, 1.5, Number.NaN])(
  "the client in TypeScript rejects the order id %s, which is not a safe integer",
  async (id) => {
    const sent = spyOnFetch();
    const orders = new OrdersClient("http://localhost/v1", "key");
    await expect(orders.cancelOrder(id)).rejects.toThrow(RangeError);
    expect(sent).not.toHaveBeenCalled();
  },
);

test("the client in TypeScript sends nothing with a key that no header can hold", async () => {
  const sent = spyOnFetch();
  const orders = new OrdersClient("http://localhost/v1", "a\nb");
  await expect(orders.listOrders()).rejects.toThrow(TypeError);
  expect(sent).not.toHaveBeenCalled();
});

describe("the client in TypeScript", () => {
  /** Lists orders from a service that responds like this, in turn, and doesn't wait. */
  async function list(...responses: Response[]) {
    const pauses: number[] = [];
    vi.stubGlobal("setTimeout", (resolve: () => void, milliseconds: number) => {
      pauses.push(milliseconds);
      resolve();
    });
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    vi.stubGlobal("fetch", async () => responses.shift());
    const outcome = await new OrdersClient("http://host/v1", "key")
      .listOrders()
      .catch((error: unknown) => error);
    vi.restoreAllMocks();
    return { outcome, pauses, left: responses.length };
  }
  const failure = (status: number, code: ErrorCode, headers?: Record<string, string>) =>
    new Response(errorBody(code), { status, ...(headers && { headers }) });
  const busy = () => failure(503, "service_unavailable");
  const noOrders = () => new Response("[]");

  test("waits longer after each failure", async () => {
    const listed = await list(busy(), busy(), busy(), busy(), noOrders());
    expect(listed).toEqual({ outcome: [], pauses: [500, 1000, 2000, 4000], left: 0 });
  });

  test("waits at least as long as a 429 says", async () => {
    const throttled = failure(429, "too_many_requests", { "Retry-After": "7" });
    const listed = await list(throttled, noOrders());
    expect(listed).toEqual({ outcome: [], pauses: [7500], left: 0 });
  });

  test("repeats the request when a list ends in its middle", async () => {
    const listed = await list(new Response('[{"id":1},'), noOrders());
    expect(listed).toEqual({ outcome: [], pauses: [500], left: 0 });
  });

  test("repeats the request when a list ends with its connection", async () => {
    const brokenOff = new ReadableStream({
      start: (stream) => stream.error(new TypeError("terminated")),
    });
    const listed = await list(new Response(brokenOff), noOrders());
    expect(listed).toEqual({ outcome: [], pauses: [500], left: 0 });
  });

  test("has no code for a failure whose body only begins like JSON", async () => {
    const { outcome } = await list(new Response("{oops", { status: 404 }));
    expect(outcome).toMatchObject({ status: 404, code: undefined });
  });

  test("gives up after five attempts with the last failure", async () => {
    const last = failure(500, "internal_error");
    const { outcome, left } = await list(busy(), busy(), busy(), busy(), last, noOrders());
    expect(outcome).toMatchObject({ status: 500, code: "internal_error" });
    expect(left).toBe(1);
  });

  test("does not repeat a request that the service rejects", async () => {
    const { outcome, left } = await list(failure(403, "forbidden"), noOrders());
    expect(outcome).toMatchObject({ status: 403, code: "forbidden" });
    expect(left).toBe(1);
  });

  test("does not repeat a request that AWS rejects in its own words", async () => {
    const { outcome, left } = await list(new Response("Too large", { status: 413 }), noOrders());
    expect(outcome).toMatchObject({ status: 413, code: undefined });
    expect(left).toBe(1);
  });
});
