import { beforeEach, describe, expect, test } from "vitest";
import { compareOrders } from "../../infra/admin/compare-orders.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import { workThrough } from "../../infra/admin/work-through.ts";
import type { OrderItem } from "../../shared/order.ts";
import { onEvery } from "../helpers/faults/fault-proxy.ts";
import { rejectedAs, unapplied } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { runHere } from "./command-here.ts";
import { erased, makeLines } from "./orders-file.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);

/** Runs `orders import` with these arguments, through this endpoint. */
const importing = (args: string[], dynamodbEndpoint = tables.dynamodbEndpoint) =>
  runHere({ ...tables, dynamodbEndpoint }, ["orders", "import", ...args]);

describe("importing", () => {
  test("never overwrites an order, such as one that was cancelled", async () => {
    const cancelled = { id: { N: "1" }, status: { S: "cancelled" }, cancelledBy: { S: "key_1" } };
    await tables.putOrder(cancelled);
    const file = await operator.write(
      "orders.ndjson",
      '\n{"id":1,"status":"pending"}\r\n\n{"id":2}',
    );
    expect(await importing([file])).toMatchObject({
      stdout: "2 orders: 1 written, 0 already there, 1 different, 0 not written\n",
    });
    const items = await tables.items("orders");
    expect(items).toHaveLength(2);
    expect(items).toEqual(
      expect.arrayContaining([cancelled, { id: { N: "2" }, status: { S: "pending" } }]),
    );
  });

  test("shows its progress on a terminal", async () => {
    const file = await operator.write("orders.ndjson", makeLines(50).join("\n"));
    const { stderr } = await runHere(tables, ["orders", "import", file], { terminals: ["stderr"] });
    expect(stderr).toContain(`${erased}Checking 100%, `);
    expect(stderr).toMatch(/Writing \d+%, [\d.,]+ orders\/s/);
    expect(stderr.split(erased).at(-1)).toBe("");
  });

  // The command before it in a pipe may have failed.
  test("rejects a file without orders", async () => {
    const file = await operator.write("orders.ndjson", "\n");
    expect(await importing([file])).toEqual({
      code: 1,
      stdout: "",
      stderr: `${file} has no orders\n`,
    });
  });

  test("writes nothing if Ctrl-C comes while the file is being checked", async () => {
    const file = await operator.write("orders.ndjson", makeLines(20_000).join("\n"));
    const running = importing([file]);
    process.once("newListener", () => setImmediate(() => process.emit("SIGINT")));
    expect(await running).toEqual({
      code: 1,
      stdout: "",
      stderr: "Interrupted: nothing was written\n",
    });
    expect(await tables.items("orders")).toEqual([]);
  });

  test("counts someone else's order as there, even after a retry", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    const file = await operator.write("orders.ndjson", '{"id":1}');
    const { proxy } = await tables.behindProxy(({ operation, attempt }) =>
      operation === "PutItem" && attempt === 1 ? unapplied["500 of the service"] : undefined,
    );
    const { stdout } = await importing([file], proxy.endpoint);
    expect(stdout).toBe("1 order: 0 written, 0 already there, 1 different, 0 not written\n");
    expect(proxy.attempts.get("PutItem")).toBe(2);
  });

  describe("when a write is denied", () => {
    const importUntilDenied = async () => {
      const file = await operator.write("orders.ndjson", makeLines(200).join("\n"));
      let puts = 0;
      const { proxy } = await tables.behindProxy(({ operation }) =>
        operation === "PutItem" && ++puts > 60
          ? rejectedAs("AccessDeniedException", "not authorized to perform PutItem")
          : undefined,
      );
      return await importing([file], proxy.endpoint);
    };

    test("says why in one line", async () => {
      expect(await importUntilDenied()).toMatchObject({
        code: 1,
        stderr:
          "AWS denied access: not authorized to perform PutItem. Run it again to write the rest.\n",
      });
    });

    test("prints counts that add up", async () => {
      const { stdout } = await importUntilDenied();
      expect(stdout).toBe(
        "200 orders: 60 written, 0 already there, 0 different, 140 not written\n",
      );
    });
  });
});

describe("importing orders that are there already but differ", () => {
  const present: OrderItem[] = [
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
    ...Array.from({ length: 22 }, (_, at) => ({
      id: { N: String(at + 10) },
      status: { S: "cancelled" },
    })),
  ];
  const sameInAnotherOrder = {
    id: 2,
    otherAttributes: {
      tags: { SS: ["a", "b"] },
      box: { M: { y: { S: "" }, x: { N: "1" } } },
    },
  };
  const lines = [
    '{"id":1,"petId":8,"otherAttributes":{"photo":{"B":"Ag=="},"colour\\u001b":{"S":"red"}}}',
    JSON.stringify(sameInAnotherOrder),
    ...Array.from({ length: 22 }, (_, at) => `{"id":${at + 10}}`),
  ];
  const importThem = async (...options: string[]) => {
    const file = await operator.write("orders.ndjson", lines.join("\n"));
    return { file, ...(await importing([file, ...options])) };
  };
  beforeEach(async () => {
    for (const item of present) await tables.putOrder(item);
  });

  test("fails, and shows both values with the line, of at most twenty of a kind", async () => {
    const { file, stderr, ...ended } = await importThem();
    expect(ended).toEqual({
      code: 1,
      stdout: "24 orders: 0 written, 1 already there, 23 different, 0 not written\n",
    });
    const [first, ...rest] = stderr.trimEnd().split("\n");
    expect(first).toBe(
      `${file}:1: order 1 differs: colour\\u{1b} "red" (table: none), note none (table: ""), ` +
        `petId 8 (table: 7), photo {"B":"Ag=="} (table: {"B":"AQ=="}), ` +
        `status "pending" (table: "shipped")`,
    );
    expect(rest.pop()).toBe("and 2 more: status");
    const lines = Array.from(present.slice(2), (_, at) => at + 3);
    const alike = lines.map(
      (line) => `${file}:${line}: order ${line + 7} differs: status "pending" (table: "cancelled")`,
    );
    expect(rest).toHaveLength(20);
    expect(rest).toEqual(alike.filter((note) => rest.includes(note)));
  });

  test("counts and lists the differences as JSON", async () => {
    const { different, differing } = JSON.parse((await importThem("--json")).stdout);
    expect({ different, listed: differing.length }).toEqual({ different: 23, listed: 21 });
    expect(differing).toContainEqual({
      line: expect.any(Number),
      problems: [
        expect.stringMatching(/^order \d\d differs: status "pending" \(table: "cancelled"\)$/),
      ],
    });
  });

  test("leaves the table's orders as they are", async () => {
    await importThem();
    const after = await tables.items("orders");
    expect(after).toHaveLength(present.length);
    expect(after).toEqual(expect.arrayContaining(present));
  });
});

describe("work in which one item fails", () => {
  const items = Array.from({ length: 100 }, (_, at) => at);
  const workUntilBroken = async () => {
    const started: number[] = [];
    const stopped: number[] = [];
    const work = async (item: number, stop: AbortSignal): Promise<void> => {
      started.push(item);
      if (item === 1) throw new Error("broken");
      await new Promise((resolve) => setImmediate(resolve));
      if (stop.aborted) stopped.push(item);
    };
    const reason = await workThrough(items.values(), work, new AbortController().signal);
    return { started, stopped, reason };
  };

  test("returns the reason", async () => {
    expect((await workUntilBroken()).reason).toContain("broken");
  });

  test("starts no other item", async () => {
    expect((await workUntilBroken()).started).toHaveLength(48);
  });

  test("signals the items that were started to stop", async () => {
    const { started, stopped } = await workUntilBroken();
    expect(stopped).toEqual(started.filter((item) => item !== 1));
  });
});

describe("checking a file against the table", () => {
  let file: string;
  beforeEach(async () => {
    file = await operator.write("orders.ndjson", '{"id":1}\n{"id":2}');
  });
  const check = (...options: string[]) => importing([file, "--check", ...options]);

  test("counts the orders that are the same, differ or are missing", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    expect(await check()).toEqual({
      code: 1,
      stdout: "2 orders: 0 same, 1 different, 1 missing, 0 not compared\n",
      stderr: `${file}:1: order 1 differs: status "pending" (table: "shipped")\n`,
    });
  });

  test("prints the counts and differences as JSON", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    expect(JSON.parse((await check("--json")).stdout)).toEqual({
      badLines: [],
      orders: 2,
      same: 0,
      different: 1,
      missing: 1,
      notCompared: 0,
      differing: [{ line: 1, problems: ['order 1 differs: status "pending" (table: "shipped")'] }],
    });
  });

  test("accepts a table that has more orders than the file", async () => {
    await tables.putOrder({ id: { N: "3" }, status: { S: "shipped" } });
    await importing([file]);
    expect(await check()).toEqual({
      code: 0,
      stdout: "2 orders: 2 same, 0 different, 0 missing, 0 not compared\n",
      stderr: "",
    });
  });

  test("reads the file's orders consistently, a hundred at a time", async () => {
    const reads: { ConsistentRead: boolean; Keys: OrderItem[] }[] = [];
    const { proxy } = await tables.behindProxy(({ operation, input }) => {
      const { RequestItems } = JSON.parse(input);
      if (operation === "BatchGetItem") reads.push(RequestItems[tables.tables.orders]);
      return undefined;
    });
    const many = await operator.write("many.ndjson", makeLines(120).join("\n"));
    await importing([many, "--check"], proxy.endpoint);
    const sizes = reads.map(({ ConsistentRead, Keys }) => ConsistentRead && Keys.length);
    expect(sizes.toSorted()).toEqual([100, 20]);
  });

  test("shows a long value in part", async () => {
    const text = "x".repeat(100);
    await tables.putOrder({ id: { N: "1" }, status: { S: text } });
    expect((await check()).stderr).toBe(
      `${file}:1: order 1 differs: status "pending" (table: "${text.slice(1, 60)}...)\n`,
    );
  });

  test("writes nothing", async () => {
    const { proxy } = await tables.behindProxy(() => undefined);
    await importing([file, "--check"], proxy.endpoint);
    expect([...proxy.attempts.keys()]).toEqual(["DescribeTable", "BatchGetItem"]);
  });

  describe("when it can't finish", () => {
    const compare = (total: number, signal: AbortSignal) =>
      compareOrders({
        table: tables.tables.orders,
        file: { name: "orders.ndjson", path: file },
        total,
        calls: new TableCalls(tables.client),
        signal,
      });

    test("says that the file has changed since its lines were checked", async () => {
      expect(await compare(3, new AbortController().signal)).toMatchObject({
        text: "3 orders: 0 same, 0 different, 0 missing, 3 not compared",
        note:
          "orders.ndjson changed while it was being read: 2 of 3 orders are left. " +
          "Run it again to check the rest.",
      });
    });

    test("says that it was interrupted", async () => {
      expect(await compare(2, AbortSignal.abort())).toMatchObject({
        text: "2 orders: 0 same, 0 different, 0 missing, 2 not compared",
        note: "Interrupted. Run it again to check the rest.",
      });
    });
  });

  describe("when the table can't be read", () => {
    const checkUnreadable = async () => {
      const { proxy } = await tables.behindProxy(
        onEvery("BatchGetItem", rejectedAs("AccessDenied")),
      );
      return await importing([file, "--check"], proxy.endpoint);
    };

    test("counts the file's orders as not compared, not as missing", async () => {
      expect(await checkUnreadable()).toMatchObject({
        code: 1,
        stdout: "2 orders: 0 same, 0 different, 0 missing, 2 not compared\n",
      });
    });

    test("says why", async () => {
      const { stderr } = await checkUnreadable();
      expect(stderr).toMatch(/^AWS denied access: .*\. Run it again to check the rest\.\n$/);
    });
  });
});
