import { describe, expect, test } from "vitest";
import { workThrough } from "../../infra/admin/work-through.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createOperator } from "../helpers/admin/admin-process.ts";
import { clearedLine, importFile, makeLines } from "../helpers/admin/orders-file.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { rejectedAs, unapplied } from "../helpers/faults/faults.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);

describe("importing", () => {
  test("never overwrites an order, and so never revives a cancelled one", async () => {
    const cancelled = { id: { N: "1" }, status: { S: "cancelled" }, cancelledBy: { S: "key_1" } };
    await tables.putOrder(cancelled);
    const file = await operator.write("orders.ndjson", '\n{"id":1,"status":"pending"}\r\n\n{"id":2}');
    expect(await importFile(file, tables.target)).toMatchObject({
      rejected: false,
      text: "2 orders: 1 written, 1 already there, 0 not written",
    });
    const items = await tables.items("orders");
    expect(items).toHaveLength(2);
    expect(items).toEqual(expect.arrayContaining([cancelled, { id: { N: "2" }, status: { S: "pending" } }]));
  });

  test("shows on a terminal how much is checked and how much is written", async () => {
    const file = await operator.write("orders.ndjson", makeLines(50).join("\n"));
    const { terminal } = await importFile(file, tables.target, { isTTY: true });
    expect(terminal).toMatch(/Checking 100% \[=+\] \d+ bytes\/s/);
    expect(terminal).toMatch(/Writing 100% \[=+\] \d+ orders\/s/);
    expect(terminal.split(clearedLine)).toHaveLength(3);
  });

  test("reports the orders that are there but differ, and leaves them", async () => {
    const there: OrderItem[] = [
      {
        id: { N: "1" },
        status: { S: "shipped" },
        petId: { N: "7" },
        photo: { B: new Uint8Array([1]) },
        note: { S: "" },
      },
      {
        id: { N: "2" },
        status: { S: "pending" },
        tags: { SS: ["b", "a"] },
        box: { M: { x: { N: "1" }, y: { S: "" } } },
      },
      ...Array.from({ length: 22 }, (_, at) => ({ id: { N: String(at + 10) }, status: { S: "cancelled" } })),
    ];
    for (const item of there) await tables.putOrder(item);
    const lines = [
      '{"id":1,"petId":8,"otherAttributes":{"photo":{"B":"Ag=="},"colour\\u001b":{"S":"red"}}}',
      '{"id":2,"otherAttributes":{"tags":{"SS":["a","b"]},"box":{"M":{"y":{"S":""},"x":{"N":"1"}}}}}',
      ...Array.from({ length: 22 }, (_, at) => `{"id":${at + 10}}`),
    ];
    const file = await operator.write("orders.ndjson", lines.join("\n"));
    const { text, note, json, rejected } = await importFile(file, tables.target);
    expect({ text, rejected }).toEqual({
      text: "24 orders: 0 written, 24 already there, 0 not written",
      rejected: false,
    });
    const notes = note?.split("\n") ?? [];
    expect(notes).toHaveLength(1 + 20 + 1);
    expect(notes).toContain(String.raw`Order 1 in the table differs: colour\u{1b}, note, petId, photo, status`);
    expect(notes.filter((line) => /^Order \d\d in the table differs: status$/.test(line))).toHaveLength(20);
    expect(notes.at(-1)).toBe("and 2 more: status");
    expect(json).toMatchObject({ differ: 23, differing: { length: 21 } });
    const after = await tables.items("orders");
    expect(after).toHaveLength(there.length);
    expect(after).toEqual(expect.arrayContaining(there));
  });

  test("only to be checked compares, and writes nothing", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    const file = await operator.write("orders.ndjson", '{"id":1}\n{"id":2}');
    const { target, proxy } = await tables.behindProxy(({ input }) => {
      expect(JSON.parse(input)).toMatchObject({ ConsistentRead: true });
      return undefined;
    });
    expect(await importFile(file, target, { check: true })).toMatchObject({
      text: "2 orders: 0 the same, 1 differs, 1 missing",
      note: "Order 1 in the table differs: status",
      json: { same: 0, differ: 1, missing: 1, notCompared: 0, differing: [{ id: 1n, fields: ["status"] }] },
      rejected: true,
    });
    await tables.empty();
    await importFile(file, tables.target);
    expect(await importFile(file, target, { check: true })).toMatchObject({
      text: "2 orders: 2 the same, 0 differ, 0 missing",
      rejected: false,
    });
    expect([...proxy.attempts.keys()]).toEqual(["GetItem"]);
  });

  test("of nothing says so, and is done", async () => {
    const file = await operator.write("orders.ndjson", "\n");
    expect(await importFile(file, tables.target)).toMatchObject({
      text: "0 orders: 0 written, 0 already there, 0 not written",
      note: "orders.ndjson has no orders",
      rejected: false,
    });
  });

  test("never counts another's order as written, even at a later attempt", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    const file = await operator.write("orders.ndjson", '{"id":1}');
    const { target } = await tables.behindProxy(({ attempt }) =>
      attempt === 1 ? unapplied["500 of the service"] : undefined,
    );
    const { text } = await importFile(file, target);
    expect(text).toBe("1 order: 0 written, 1 already there, 0 not written");
  });

  test("stops at a failure, with one line and counts that add up", async () => {
    const file = await operator.write("orders.ndjson", makeLines(200).join("\n"));
    let puts = 0;
    const { target } = await tables.behindProxy(({ operation }) =>
      operation === "PutItem" && ++puts > 60
        ? rejectedAs("AccessDeniedException", "not authorized to perform PutItem")
        : undefined,
    );
    expect(await importFile(file, target)).toMatchObject({
      rejected: true,
      text: "200 orders: 60 written, 0 already there, 140 not written",
      note: "AWS denied access: not authorized to perform PutItem. Run it again to write the rest.",
    });
  });
});

test("after a failure nothing more begins, and what has begun is told to stop waiting", async () => {
  const begun: number[] = [];
  const stopped: number[] = [];
  const work = async (item: number, stop: AbortSignal): Promise<void> => {
    begun.push(item);
    if (item === 1) throw new Error("broken");
    await new Promise((resolve) => setImmediate(resolve));
    if (stop.aborted) stopped.push(item);
  };
  const items = Array.from({ length: 100 }, (_, at) => at).values();
  const reason = await workThrough(items, work, new AbortController().signal);
  expect(reason).toContain("broken");
  expect(begun).toHaveLength(48);
  expect(stopped).toEqual(begun.filter((item) => item !== 1));
});
