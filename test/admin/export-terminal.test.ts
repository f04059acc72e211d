import { expect, test } from "vitest";
import { commandsHere } from "../helpers/admin/command-here.ts";
import { clearedLine } from "../helpers/admin/import-file.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { onEvery } from "../helpers/faults/calls.ts";
import { respond } from "../helpers/faults/fault-proxy.ts";
import { rejectedAs } from "../helpers/faults/faults.ts";

const tables = await createTestTables();
const twoOrders = onEvery("DescribeTable", ({ response }) =>
  respond(response, { status: 200, headers: {}, body: Buffer.from('{"Table":{"ItemCount":2}}') }),
);

test.each([
  ["its share of the table", twoOrders, "50%"],
  [
    "its number of orders, where no one may ask for the table's",
    onEvery("DescribeTable", rejectedAs("AccessDeniedException")),
    "1 orders",
  ],
])("an export shows on a terminal %s", async (_, described, shown) => {
  await tables.putOrder({ id: { N: "1" } });
  const { proxy } = await tables.behindProxy(described);
  const run = await commandsHere(tables, proxy.endpoint);
  const { code, stderr } = await run(["orders", "export"], "stderr");
  const [bar, rest] = stderr.split(clearedLine);
  expect(code).toBe(0);
  expect(bar).toContain(`Exporting ${shown}`);
  expect(rest).toBe("Exported 1 order\n");
});

test("an export of orders that scroll by shows nothing else", async () => {
  await tables.putOrder({ id: { N: "1" } });
  const run = await commandsHere(tables);
  const { stdout, stderr } = await run(["orders", "export"], "stdout", "stderr");
  expect(stdout).toBe('{"id":1,"status":null}\n');
  expect(stderr).not.toContain("Exporting");
});

test("an export names on a clear line what it skips", async () => {
  await tables.putOrder({ id: { N: "1.5" } });
  const run = await commandsHere(tables);
  const { code, stderr } = await run(["orders", "export"], "stderr");
  expect(code).toBe(1);
  expect(stderr).toContain(`${clearedLine}Order 1.5 skipped: id is not a 64-bit integer\n`);
});
