import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type LocalStack, startLocalStack } from "../../infra/local/local-stack.ts";
import { listen } from "../../infra/local/machine/ports.ts";
import { errorBody } from "../../shared/errors.ts";
import { machineHas } from "../helpers/machine.ts";
import { documentFile } from "../helpers/openapi/document.ts";
import { readAssembly } from "../helpers/read-assembly.ts";

const hasPython = machineHas("Python 3.10", "the client in Python");

const folder = fileURLToPath(new URL("clients", documentFile));
const steps = `
import json, os, orders_client
from orders_client import ApiError, OrdersClient

pauses = []
orders_client.time.sleep = pauses.append
orders_client.random.random = lambda: 0.5

def saw(step):
    """The result of a step, or the status and code of its failure."""
    try:
        return step()
    except (ApiError, OSError) as error:
        return [getattr(error, "status", None), getattr(error, "code", None)]

orders = OrdersClient(os.environ["BASE_URL"], os.environ["API_KEY"])
`;

/** Runs steps with the client in Python. @returns the JSON that they print. */
async function run(python: string, baseUrl: string, apiKey = "key"): Promise<unknown> {
  const env = { PATH: process.env["PATH"], BASE_URL: baseUrl, API_KEY: apiKey };
  const program = spawn("python3", ["-B", "-c", steps + python], { cwd: folder, env });
  const [printed, errors] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    once(program, "close"),
  ]);
  expect(errors).toBe("");
  return JSON.parse(printed);
}

describe.runIf(hasPython)("the client in Python", () => {
  let stack: LocalStack;
  beforeAll(async () => {
    stack = await startLocalStack(readAssembly, { port: 0, log: () => {} });
  });
  afterAll(() => stack?.stop());

  /** The value of a Python expression that calls the running service. */
  const evaluate = (expression: string): Promise<unknown> =>
    run(`print(json.dumps(${expression}))`, `${stack.baseUrl}/`, stack.apiKey);

  test("lists orders of the running service, every int64 exact", async () => {
    const ids = await evaluate('[str(order["id"]) for order in orders.list_orders()]');
    expect(ids).toHaveLength(10);
    expect(ids).toContain("9223372036854775807");
  });

  test("succeeds when the order is already cancelled", async () => {
    const twice = "[saw(lambda: orders.cancel_order(2**63 - 1)) for _ in range(2)]";
    expect(await evaluate(twice)).toEqual([null, null]);
  });

  test.each([
    [404, "order_not_found", "orders.cancel_order(404)"],
    [401, "unauthorized", 'OrdersClient(os.environ["BASE_URL"], "no key").list_orders()'],
  ])("fails with the status and code of the service: %i %s", async (status, code, call) => {
    expect(await evaluate(`saw(lambda: ${call})`)).toEqual([status, code]);
  });

  type Respond = (response: ServerResponse) => void;

  /**
   * Lists orders from a service that responds like this, in turn.
   *
   * @returns the orders, or the status and code of the failure; and the pauses in seconds.
   */
  async function list(...responses: Respond[]): Promise<unknown> {
    const { port, close } = await listen(0, (_request, response) => responses.shift()?.(response));
    onTestFinished(close);
    const python = "print(json.dumps([saw(orders.list_orders), pauses]))";
    return await run(python, `http://127.0.0.1:${port}/v1`);
  }
  const busy: Respond = (response) => response.writeHead(503).end(errorBody("service_unavailable"));
  const noOrders: Respond = (response) => response.end("[]");

  test("waits longer after each failure", async () => {
    expect(await list(busy, busy, busy, busy, noOrders)).toEqual([[], [0.5, 1, 2, 4]]);
  });

  test("waits at least as long as a 429 says", async () => {
    const throttled: Respond = (response) =>
      response.writeHead(429, { "Retry-After": "7" }).end(errorBody("too_many_requests"));
    expect(await list(throttled, noOrders)).toEqual([[], [7.5]]);
  });

  test.each<[string, Respond]>([
    ["between orders", (response) => response.end('[{"id":1},')],
    ["within a character", (response) => response.end(Buffer.from([0x5b, 0x22, 0xc3]))],
    [
      "with its connection",
      (response) => {
        response.write("[");
        setImmediate(() => response.destroy());
      },
    ],
  ])("repeats the request when a list ends %s", async (_where, cutOff) => {
    expect(await list(cutOff, noOrders)).toEqual([[], [0.5]]);
  });

  test.each(["{oops", "[1]", "{}", Buffer.from([0xc3])])(
    "has no code for a failure with the body %s",
    async (body) => {
      const called = await list((response) => response.writeHead(404).end(body), noOrders);
      expect(called).toEqual([[404, null], []]);
    },
  );

  test("gives up after five attempts with the last failure", async () => {
    const failed: Respond = (response) => response.writeHead(500).end(errorBody("internal_error"));
    expect(await list(busy, busy, busy, busy, failed, noOrders)).toEqual([
      [500, "internal_error"],
      [0.5, 1, 2, 4],
    ]);
  });

  test("does not repeat a request that AWS rejects in its own words", async () => {
    const called = await list((response) => response.writeHead(413).end("Too large"), noOrders);
    expect(called).toEqual([[413, null], []]);
  });

  test.each(["9007199254740992.0", "1e21", '"4"', "True"])(
    "rejects the order id %s, which is not an int",
    async (id) => {
      const python = `
try:
    orders.cancel_order(${id})
except TypeError as error:
    print(json.dumps(str(error)))`;
      expect(await run(python, "http://127.0.0.1:9/v1")).toContain("is not an int");
    },
  );

  test("is called with both of its methods in API.md's example", async () => {
    const page = await readFile(new URL("API.md", documentFile), "utf8");
    const example = /```python\n(.*?)```/s.exec(page)?.[1];
    const python = `
import ast
nodes = ast.walk(ast.parse(${JSON.stringify(example)}))
attributes = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
print(json.dumps([name for name in attributes if hasattr(orders, name)]))`;
    expect(await run(python, "http://127.0.0.1:9/v1")).toEqual(
      expect.arrayContaining(["cancel_order", "list_orders"]),
    );
  });
});
