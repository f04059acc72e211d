import { expect, test } from "vitest";
import type { LocalStackOptions } from "../../../infra/tools/local/local-stack.ts";
import { forTerminal } from "../../../infra/tools/local/local-stack.ts";
import { notLoadedText, readyText } from "../../../infra/tools/local/ready-text.ts";
import { createTestTables } from "../../helpers/test-tables.ts";

const { client, tables, putOrder } = await createTestTables();

async function textOf(orders: Record<string, string>, options: LocalStackOptions = {}) {
  for (const [id, status] of Object.entries(orders))
    await putOrder({ id: { N: id }, status: { S: status } });
  const connection = {
    baseUrl: "http://localhost:3000/v1",
    dynamodbEndpoint: "http://127.0.0.1:4000",
    accessKeyId: "LOCAL1",
    tables,
  };
  return readyText({ apiKey: "the-key", client, connection }, 1, options);
}

const longest = "999999999999999999";

test("the text says where the service is, what its options do, and how to try it", async () => {
  const orders = { "-1": "pending", 7: "pending", 10: "pending", [longest]: "shipped" };
  const options = { watch: true, throttle: 3, cut: 4, unavailable: 2 };
  expect(await textOf(orders, options)).toBe(`\
The pet store orders service is ready after 1.0 s. Press Ctrl-C to stop it.
Watching the sources: changes are served within seconds.
One of 3 requests gets 429 (--throttle).
One of 2 lists and cancellations gets 503 (--unavailable).
One of 4 lists is cut off midway (--cut).

  Base URL  http://localhost:3000/v1
  Try it    http://localhost:3000/
  Tables    http://127.0.0.1:4000, access key id LOCAL1

First, in the shell that calls it:
  export API_KEY=the-key
List all orders:
  curl -i -H "Authorization: Bearer $API_KEY" http://localhost:3000/v1/store/orders
Cancel a pending order (204, then 409 the second time), and see what became of it:
  curl -i -H "Authorization: Bearer $API_KEY" -X DELETE http://localhost:3000/v1/store/orders/7
  infra/petstore orders show --local 7
Cancel an order that does not exist (404):
  curl -i -H "Authorization: Bearer $API_KEY" -X DELETE http://localhost:3000/v1/store/orders/none
Cancel an order that has shipped (409):
  curl -i -H "Authorization: Bearer $API_KEY" -X DELETE http://localhost:3000/v1/store/orders/${longest}

`);
});

test("the examples name no order that clients can't", async () => {
  const orders = { "1.5": "pending", "9999999999999999999": "shipped" };
  const text = await textOf(orders);
  expect(text.match(/(?<=orders\/).+$/gm)).toEqual(["none"]);
  expect(text).not.toMatch(/Watching|One of/);
});

test("a file that was not loaded is one word of the command that loads it", () => {
  expect(notLoadedText("Ann's")).toContain("import --local 'Ann'\\''s'");
});

test("a terminal shows a log as it is, but a rejected key as one line", () => {
  const failed = '{"level":"ERROR","message":{"event":"authorize_failed"}}';
  const rejected = '{"message":{"errorMessage":"Unauthorized","stackTrace":[]}}';
  expect([failed, rejected].map(forTerminal)).toEqual([
    failed,
    "Rejected a key that is unknown, expired or revoked: 401",
  ]);
});
