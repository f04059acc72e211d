import { expect, test } from "vitest";
import { notLoadedText, readyText } from "../../infra/local/ready-text.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const { dynamodbEndpoint, tables, putOrder } = await createTestTables();
const stack = {
  apiKey: "the-key",
  dynamodbEndpoint,
  whereabouts: {
    baseUrl: "http://localhost:3000/v1",
    dynamodbEndpoint: "http://127.0.0.1:4000",
    accessKeyId: "LOCAL1",
    tables,
  },
};

/** Puts orders, each with its status, into the table. */
async function put(statuses: Record<string, string>): Promise<void> {
  for (const [id, status] of Object.entries(statuses))
    await putOrder({ id: { N: id }, status: { S: status } });
}

/** The ids in the commands that cancel a pending order, no order, and a shipped one. */
async function exampleIds() {
  const text = await readyText(stack, "1.0");
  return text.match(/(?<=orders\/).+$/gm);
}

test("the examples name the orders of the smallest ids, negative ones last", async () => {
  await put({ "-1": "pending", "-2": "shipped", 7: "pending", 8: "pending", 9: "shipped" });
  expect(await exampleIds()).toEqual(["7", "none", "9"]);
});

test("no example names an order whose id clients can't use", async () => {
  await put({ "1.5": "pending", "100000000000000000000": "shipped" });
  expect(await exampleIds()).toEqual(["none"]);
});

test("without orders, the only example id is one that does not exist", async () => {
  expect(await exampleIds()).toEqual(["none"]);
});

test("the text says where the service is, and how to try it with one export of the key", async () => {
  await put({ 7: "pending", 9: "shipped" });
  expect(await readyText(stack, "1.0")).toBe(`\
The pet store orders service is ready after 1.0 s. Press Ctrl-C to stop it.

  Base URL  http://localhost:3000/v1
  Try it    http://localhost:3000/
  Tables    http://127.0.0.1:4000, access key id LOCAL1

First, in the shell that calls it:
  export API_KEY=the-key
List all orders:
  curl -i -H "Authorization: Bearer $API_KEY" http://localhost:3000/v1/store/orders
Cancel a pending order (204, then 409 the second time), and see what became of it:
  curl -i -H "Authorization: Bearer $API_KEY" -X DELETE http://localhost:3000/v1/store/orders/7
  npm run -s admin -- orders show --local 7
Cancel an order that does not exist (404):
  curl -i -H "Authorization: Bearer $API_KEY" -X DELETE http://localhost:3000/v1/store/orders/none
Cancel an order that has shipped (409):
  curl -i -H "Authorization: Bearer $API_KEY" -X DELETE http://localhost:3000/v1/store/orders/9

`);
});

test.each([
  [{ watch: true }, "Watching the sources: changes are served within seconds."],
  [{ throttle: 3 }, "One of 3 requests gets 429 (--throttle)."],
  [{ cut: 4 }, "One of 4 lists is cut off midway (--cut)."],
  [{ unavailable: 2 }, "One of 2 lists and cancellations gets 503 (--unavailable)."],
])("the second line says what the option does: %j", async (options, line) => {
  expect((await readyText(stack, "1.0", options)).split("\n")[1]).toBe(line);
});

test("the command that adds the orders of a file can be pasted into sh", () => {
  expect(notLoadedText("Ann's $HOME").split("\n")).toEqual([
    "Ann's $HOME was not loaded: the tables exist already. To add its orders, run:",
    String.raw`  npm run admin -- orders import --local 'Ann'\''s $HOME'`,
  ]);
});
