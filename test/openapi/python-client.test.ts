import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { listen } from "../../infra/local/machine/ports.ts";
import { errorBody } from "../../shared/errors.ts";
import { machineHas } from "../helpers/machine.ts";
import { documentFile } from "../helpers/openapi/document.ts";
import { readAssembly } from "../helpers/read-assembly.ts";

const pythonTest = test.runIf(machineHas("Python 3.10", "the client in Python"));

const folder = fileURLToPath(new URL("clients", documentFile));
const steps = `
import json, os, orders_client
from orders_client import ApiError, OrdersClient

pauses = []
orders_client.time.sleep = pauses.append
orders_client.random.random = lambda: 0.5

def saw(step):
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

pythonTest(
  "the client in Python lists and cancels orders of the running service, every int64 exact",
  async () => {
    const stack = await startLocalStack(readAssembly, { port: 0, log: () => {} });
    onTestFinished(() => stack.stop());
    const printed = await run(
      `
ids = [order["id"] for order in orders.list_orders()]
again = [saw(lambda: orders.cancel_order(2**63 - 1)) for _ in range(2)]
missing = saw(lambda: orders.cancel_order(404))
stranger = saw(OrdersClient(os.environ["BASE_URL"], "no key").list_orders)
exact = 2**63 - 1 in ids
print(json.dumps([len(ids), exact, again, missing, stranger]))`,
      `${stack.baseUrl}/`,
      stack.apiKey,
    );
    expect(printed).toEqual([
      10,
      true,
      [null, null],
      [404, "order_not_found"],
      [401, "unauthorized"],
    ]);
  },
);

describe("the client in Python, when the service", () => {
  type Respond = (response: ServerResponse) => void;

  /** Lists from a service that responds like this, in turn. @returns what came, and the pauses. */
  async function list(...responses: Respond[]): Promise<unknown> {
    const { port, close } = await listen(0, (_request, response) => responses.shift()?.(response));
    onTestFinished(close);
    const python = "print(json.dumps([saw(orders.list_orders), pauses]))";
    return await run(python, `http://127.0.0.1:${port}/v1`);
  }
  const busy: Respond = (response) => response.writeHead(503).end(errorBody("service_unavailable"));
  const brokenOff: Respond = (response) => {
    response.write("[");
    setImmediate(() => response.destroy());
  };

  pythonTest(
    "fails for a while, waits longer each time, at least as long as a 429 says",
    async () => {
      const throttled: Respond = (response) =>
        response.writeHead(429, { "Retry-After": "7" }).end(errorBody("too_many_requests"));
      const called = await list(busy, brokenOff, throttled, busy, (response) => response.end("[]"));
      expect(called).toEqual([[], [0.5, 1, 7.5, 4]]);
    },
  );

  pythonTest.each([
    ["between orders", Buffer.from('[{"id":1},')],
    ["within a character", Buffer.from([0x5b, 0x22, 0xc3])],
  ])("ends a list %s, asks again", async (_where, part) => {
    const called = await list(
      (response) => response.end(part),
      (response) => response.end("[]"),
    );
    expect(called).toEqual([[], [0.5]]);
  });

  pythonTest.each(["{oops", "[1]", "{}", Buffer.from([0xc3])])(
    "fails with %s, has no code",
    async (body) => {
      const called = await list((response) => response.writeHead(404).end(body));
      expect(called).toEqual([[404, null], []]);
    },
  );

  pythonTest("goes on failing, gives up after five attempts with the last failure", async () => {
    const called = await list(...Array<Respond>(7).fill(busy));
    expect(called).toEqual([
      [503, "service_unavailable"],
      [0.5, 1, 2, 4],
    ]);
  });

  pythonTest("is AWS and rejects the request in its own words, does not repeat it", async () => {
    const called = await list((response) => response.writeHead(413).end("Too large"));
    expect(called).toEqual([[413, null], []]);
  });
});

pythonTest.each(["9007199254740992.0", "1e21", '"4"', "True"])(
  "the client in Python cancels no order for %s, which is not an int",
  async (id) => {
    const python = `
try:
    orders.cancel_order(${id})
except TypeError as error:
    print(json.dumps(str(error)))`;
    expect(await run(python, "http://127.0.0.1:9/v1")).toContain("is not an int");
  },
);

pythonTest("API.md's example in Python is one that Python understands", async () => {
  const page = await readFile(new URL("API.md", documentFile), "utf8");
  const [, example = ""] = /```python\n(.*?)```/s.exec(page) ?? [];
  const python = `
import ast
print(json.dumps([node.attr for node in ast.walk(ast.parse(${JSON.stringify(example)})) if isinstance(node, ast.Attribute) and hasattr(orders, node.attr)]))`;
  expect(await run(python, "http://127.0.0.1:9/v1")).toEqual(
    expect.arrayContaining(["cancel_order", "list_orders"]),
  );
});
