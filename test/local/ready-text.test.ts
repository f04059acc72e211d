import { expect, test } from "vitest";
import { readyText } from "../../infra/local/ready-text.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";

const { dynamodbEndpoint, tables, putOrder } = await createTestTables();

test("the examples name the smallest order that clients can name, whatever else the table holds", async () => {
  const orders = { "1.5": "pending", 1e20: "shipped", "-1": "pending", 7: "pending", 8: "pending", 9: "shipped" };
  for (const [id, status] of Object.entries(orders)) await putOrder({ id: { N: id }, status: { S: status } });
  const stack = { baseUrl: "http://localhost:3000/v1", apiKey: "the key", dynamodbEndpoint, tables };
  const text = await readyText(stack, "1.0");
  expect(text.match(/(?<=orders\/).+$/gm)).toEqual(["7", "none", "9"]);
});
