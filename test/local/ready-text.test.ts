import { expect, test } from "vitest";
import { notLoadedText, readyText } from "../../infra/local/ready-text.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";

const { dynamodbEndpoint, tables, putOrder } = await createTestTables();
const stack = { baseUrl: "http://localhost:3000/v1", apiKey: "the key", dynamodbEndpoint, tables };

test("the examples name the smallest order that clients can name, whatever else the table holds", async () => {
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

test("without orders there are examples for none; the address and how it was started come first", async () => {
  const text = await readyText(stack, "1.0", true);
  expect(text).toMatch(
    /^The .* is ready after 1.0 s. .*\nWatching the sources: .*\n\n {2}Base URL {2}http:\/\/localhost/,
  );
  expect(text).toContain("\n  Try it    http://localhost:3000/\n");
  expect(text.match(/(?<=orders\/).+$/gm)).toEqual(["none"]);
});

test("the command that adds the orders of a file can be pasted into sh", () => {
  expect(notLoadedText("Ann's $HOME")).toBe(
    `Ann's $HOME was not loaded: the tables exist already. To add its orders, run:\n  npm run admin -- orders import --local 'Ann'\\''s $HOME'`,
  );
});
