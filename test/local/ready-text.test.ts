import { expect, test } from "vitest";
import { notLoadedText, readyText } from "../../infra/local/ready-text.ts";
import { createTestTables } from "../helpers/test-tables.ts";

const { dynamodbEndpoint, tables, putOrder } = await createTestTables();
const stack = {
  baseUrl: "http://localhost:3000/v1",
  apiKey: "the key",
  dynamodb: { endpoint: "http://127.0.0.1:4000", accessKeyId: "LOCAL1" },
  dynamodbEndpoint,
  tables,
};

test("the examples name the smallest order that clients can name", async () => {
  const orders = {
    "1.5": "pending",
    1e20: "shipped",
    "-1": "pending",
    7: "pending",
    8: "pending",
    9: "shipped",
  };
  for (const [id, status] of Object.entries(orders))
    await putOrder({ id: { N: id }, status: { S: status } });
  const text = await readyText(stack, "1.0");
  expect(text.match(/(?<=orders\/).+$/gm)).toEqual(["7", "none", "9"]);
});

test("without orders there are examples for none", async () => {
  const text = await readyText(stack, "1.0");
  expect(text.match(/(?<=orders\/).+$/gm)).toEqual(["none"]);
});

test("the addresses come first, that of the tables with what opens them", async () => {
  expect((await readyText(stack, "1.0")).split("\n").slice(0, 6)).toEqual([
    "The pet store orders service is ready after 1.0 s. Press Ctrl-C to stop it.",
    "",
    "  Base URL  http://localhost:3000/v1",
    "  API key   the key",
    "  Try it    http://localhost:3000/",
    "  Tables    http://127.0.0.1:4000, access key id LOCAL1",
  ]);
});

test.each([
  [{ watch: true }, "Watching the sources: changes are served within seconds."],
  [{ throttle: 3 }, "One of 3 requests gets 429 (--throttle)."],
  [{ unavailable: 2 }, "One of 2 lists and cancellations gets 503 (--unavailable)."],
])("how it was started is said: %j", async (options, line) => {
  expect((await readyText(stack, "1.0", options)).split("\n")[1]).toBe(line);
});

test("the command that adds the orders of a file can be pasted into sh", () => {
  expect(notLoadedText("Ann's $HOME")).toBe(
    `Ann's $HOME was not loaded: the tables exist already. To add its orders, run:\n  npm run admin -- orders import --local 'Ann'\\''s $HOME'`,
  );
});
