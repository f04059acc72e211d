import { randomUUID } from "node:crypto";
import { BatchWriteItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { createOperator } from "../helpers/admin/admin-process.ts";
import { runHere } from "../helpers/admin/command-here.ts";
import { createOldTable } from "../helpers/admin/old-orders.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { createTable } from "../helpers/create-table.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
await operator.pointTo(tables);
const old = createOldTable(tables.client, "orders");

/** Puts shipped orders with ids from 1 into the old table. */
async function putOld(count: number): Promise<void> {
  for (let id = 1; id <= count; id += 25) {
    const requests = Array.from({ length: Math.min(25, count + 1 - id) }, (_, at) => ({
      PutRequest: { Item: { id: { N: String(id + at) }, status: { S: "shipped" } } },
    }));
    await tables.client.send(new BatchWriteItemCommand({ RequestItems: { [old()]: requests } }));
  }
}

describe("orders carry-over", () => {
  test("killed midway and run again, leaves nothing behind", async () => {
    await putOld(120);
    const killed = operator.start(["orders", "carry-over", "--local", "--from", old(), "--rate", "10"]);
    await expect.poll(async () => (await tables.items("orders")).length).toBeGreaterThan(3);
    killed.kill("SIGKILL");
    expect(await killed.ended).toEqual({
      code: null,
      stdout: "",
      stderr: "Using at most 10 read units a second (--rate)\nUsing at most 10 write units a second (--rate)\n",
    });
    const carried = (await tables.items("orders")).length;
    expect(carried).toBeLessThan(120);

    const again = await operator.run(["orders", "carry-over", "--local", "--json", "--from", old()]);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(again.stdout)).toMatchObject({ complete: true, placed: 120 - carried, alreadySo: carried });
    expect(await tables.items("orders")).toHaveLength(120);
  });

  test("names a table that does not exist, and says nothing of success", async () => {
    await putOld(1);
    const stderr = expect.stringMatching(/^There is no table Typo\. .*\n$/);
    for (const tableOptions of [
      ["--from", "Typo"],
      ["--from", old(), "--to", "Typo"],
    ]) {
      const args = ["orders", "carry-over", ...tableOptions];
      expect(await runHere(tables, args)).toEqual({ code: 1, stdout: "", stderr });
    }
    expect(await runHere(tables, ["keys", "list", "--table", "Typo"])).toEqual({ code: 1, stdout: "", stderr });
  });

  test("takes its tables and the keys to leave out from the command line", async () => {
    const to = `New-${randomUUID()}`;
    await createTable(tables.client, "orders", to);
    await tables.putOrder({ id: { N: "1" }, status: { S: "cancelled" }, cancelledBy: { S: "key_a" } });
    await tables.putOrder({ id: { N: "2" }, status: { S: "cancelled" }, cancelledBy: { S: "key_b" } });
    const args = ["orders", "carry-over", "--from", tables.tables.orders, "--to", to];
    const leftOut = await runHere(tables, [...args, "--dry-run", "--not-by", "key_a", "--not-by", "key_b"]);
    expect(leftOut).toEqual({
      code: 0,
      stdout: `Would carry over to ${to}: 2 placed, 0 shipped, 0 cancelled, 0 changed, 0 already so, 2 left out, 0 disagreeing\n`,
      stderr: "",
    });
    const same = await operator.run(["orders", "carry-over", "--local", "--from", tables.tables.orders], {
      env: { NODE_DEBUG: "admin" },
    });
    expect({
      ...same,
      stderr: same.stderr.replace(/ADMIN \d+: CommandError: .*\n(?: {4}at .*\n)+$/, "and where"),
    }).toEqual({
      code: 1,
      stdout: "",
      stderr: `${tables.tables.orders} is the table in use: name the new one with --to\nand where`,
    });
  });
});
