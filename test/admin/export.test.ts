import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parseOrderLine } from "../../infra/orders-file/order-line.ts";
import { createEngineProxy } from "../helpers/admin/engine-proxy.ts";
import { createLocalOperator } from "../helpers/admin/local-operator.ts";
import { sortedLines } from "../helpers/admin/order-file-lines.ts";

const { tables, operator } = await createLocalOperator();
const orders = (...args: string[]) => operator.run(["orders", ...args, "--local"]);

describe("orders export", () => {
  const rows = [
    '{"id":-9223372036854775808,"petId":-1,"quantity":0,"complete":false,"status":"pending"}',
    '{"id":9223372036854775807,"petId":9007199254740993,"shipDate":"2026-12-01T09:00:00.123456789+05:30","status":"shipped"}',
    '{"id":0,"status":"cancelled"}',
    '{"id":1,"status":"cancelled","cancelledAt":"2026-11-20T08:00:00.000Z","cancelledBy":"key_1","cancellationId":"5f3f"}',
  ];

  test("then import into an empty table is the identity", async () => {
    for (const line of rows) {
      const parsed = parseOrderLine(line);
      if ("item" in parsed) await tables.put("orders", parsed.item);
    }
    const before = await tables.items("orders");
    const file = `${operator.folder}/exported.ndjson`;
    expect(await orders("export", file, "--json")).toEqual({
      code: 0,
      stdout: '{"orders":4,"leftOut":0}\n',
      stderr: "",
    });
    expect(sortedLines(await operator.read("exported.ndjson"))).toEqual([...rows].sort());
    await tables.empty();
    expect(await orders("import", file)).toMatchObject({
      code: 0,
      stdout: "4 orders: 4 written, 0 already there, 0 failed\n",
    });
    const after = await tables.items("orders");
    expect(before).toHaveLength(rows.length);
    expect(after).toHaveLength(rows.length);
    expect(after).toEqual(expect.arrayContaining(before));
  });

  test("names each order that it can't say, and does not pass for whole", async () => {
    await tables.put("orders", { id: { N: "1" }, status: { S: "held\u001b" } });
    await tables.put("orders", { id: { N: "2" } });
    await tables.put("orders", { id: { N: "3" }, status: { S: "pending" }, gift: { BOOL: true } });
    await tables.put("orders", { id: { N: "4" }, status: { S: "pending" }, petId: { L: [] } });
    await tables.put("orders", { id: { N: "5" }, status: { S: "pending" } });
    const { code, stdout, stderr } = await orders("export");
    expect(code).toBe(1);
    expect(stdout).toBe('{"id":5,"status":"pending"}\n');
    expect(stderr.trimEnd().split("\n").sort()).toEqual([
      "1 orders exported, 4 left out",
      "Order 1 left out: status is not one of pending, shipped, cancelled",
      "Order 2 left out: status is missing",
      'Order 3 left out: unknown field "gift"',
      "Order 4 left out: petId is not a 64-bit integer",
    ]);
  });

  test("that fails leaves the file of the last one as it was, and nothing beside it", async () => {
    const file = await operator.write("orders.ndjson", "the last one\n");
    let scans = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) =>
      operation === "Scan" && ++scans > 0 ? { status: 400, body: { __type: "ResourceNotFoundException" } } : "pass",
    );
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    expect(await orders("export", file)).toEqual({
      code: 1,
      stdout: "",
      stderr: "The table is not there (any more)\n",
    });
    await proxy.stop();
    expect(await operator.read("orders.ndjson")).toBe("the last one\n");
    expect((await readdir(operator.folder)).filter((name) => name.includes("partial"))).toEqual([]);
    expect(await orders("export", "/dev/null")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not a regular file"),
    });
  });
});
