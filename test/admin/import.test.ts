import { beforeEach, describe, expect, test } from "vitest";
import { workThrough } from "../../infra/admin/work-through.ts";
import type { OrderItem } from "../../shared/order.ts";
import { onEvery } from "../helpers/faults/fault-proxy.ts";
import { rejectedAs, unapplied } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { runHere } from "./command-here.ts";
import { clearedLine, makeLines } from "./orders-file.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);

/** Imports this file, through this endpoint. */
const importing = (args: string[], dynamodbEndpoint = tables.dynamodbEndpoint) =>
  runHere({ ...tables, dynamodbEndpoint }, ["orders", "import", ...args]);

describe("importing", () => {
  test("never overwrites an order, and so never revives a cancelled one", async () => {
    const cancelled = { id: { N: "1" }, status: { S: "cancelled" }, cancelledBy: { S: "key_1" } };
    await tables.putOrder(cancelled);
    const file = await operator.write(
      "orders.ndjson",
      '\n{"id":1,"status":"pending"}\r\n\n{"id":2}',
    );
    expect(await importing([file])).toMatchObject({
      code: 0,
      stdout: "2 orders: 1 written, 1 already there, 0 not written\n",
    });
    const items = await tables.items("orders");
    expect(items).toHaveLength(2);
    expect(items).toEqual(
      expect.arrayContaining([cancelled, { id: { N: "2" }, status: { S: "pending" } }]),
    );
  });

  test("shows on a terminal how much is checked and how much is written", async () => {
    const file = await operator.write("orders.ndjson", makeLines(50).join("\n"));
    const { stderr } = await runHere(tables, ["orders", "import", file], { terminals: ["stderr"] });
    expect(stderr).toMatch(/Checking 100% \[=+\] \d+ bytes\/s/);
    expect(stderr).toMatch(/Writing 100% \[=+\] \d+ orders\/s/);
    expect(stderr.split(clearedLine)).toHaveLength(3);
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
      ...Array.from({ length: 22 }, (_, at) => ({
        id: { N: String(at + 10) },
        status: { S: "cancelled" },
      })),
    ];
    for (const item of there) await tables.putOrder(item);
    const lines = [
      '{"id":1,"petId":8,"otherAttributes":{"photo":{"B":"Ag=="},"colour\\u001b":{"S":"red"}}}',
      '{"id":2,"otherAttributes":{"tags":{"SS":["a","b"]},"box":{"M":{"y":{"S":""},"x":{"N":"1"}}}}}',
      ...Array.from({ length: 22 }, (_, at) => `{"id":${at + 10}}`),
    ];
    const file = await operator.write("orders.ndjson", lines.join("\n"));
    const { code, stdout, stderr } = await importing([file]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "24 orders: 0 written, 24 already there, 0 not written\n",
    });
    const notes = stderr.trimEnd().split("\n");
    expect(notes).toHaveLength(1 + 20 + 1);
    expect(notes).toContain(
      String.raw`Order 1 in the table differs: colour\u{1b}, note, petId, photo, status`,
    );
    expect(
      notes.filter((line) => /^Order \d\d in the table differs: status$/.test(line)),
    ).toHaveLength(20);
    expect(notes.at(-1)).toBe("and 2 more: status");
    const json = JSON.parse((await importing([file, "--json"])).stdout);
    expect(json).toMatchObject({ differ: 23, differing: { length: 21 } });
    const after = await tables.items("orders");
    expect(after).toHaveLength(there.length);
    expect(after).toEqual(expect.arrayContaining(there));
  });

  test("of nothing is rejected: a command before it in a pipe may have failed", async () => {
    const file = await operator.write("orders.ndjson", "\n");
    expect(await importing([file])).toEqual({
      code: 1,
      stdout: "",
      stderr: `${file} has no orders\n`,
    });
  });

  test("ends at Ctrl-C while the file is being checked, and writes nothing", async () => {
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

  test("never counts another's order as written, even at a later attempt", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    const file = await operator.write("orders.ndjson", '{"id":1}');
    const { proxy } = await tables.behindProxy(({ operation, attempt }) =>
      operation === "PutItem" && attempt === 1 ? unapplied["500 of the service"] : undefined,
    );
    const { stdout } = await importing([file], proxy.endpoint);
    expect(stdout).toBe("1 order: 0 written, 1 already there, 0 not written\n");
  });

  test("counts no order as written that an engine turns down without showing what is there", async () => {
    const file = await operator.write("orders.ndjson", '{"id":1}');
    const { proxy } = await tables.behindProxy(
      onEvery("PutItem", rejectedAs("ConditionalCheckFailedException")),
    );
    const { stdout } = await importing([file], proxy.endpoint);
    expect(stdout).toBe("1 order: 0 written, 1 already there, 0 not written\n");
  });

  test("stops at a failure, with one line and counts that add up", async () => {
    const file = await operator.write("orders.ndjson", makeLines(200).join("\n"));
    let puts = 0;
    const { proxy } = await tables.behindProxy(({ operation }) =>
      operation === "PutItem" && ++puts > 60
        ? rejectedAs("AccessDeniedException", "not authorized to perform PutItem")
        : undefined,
    );
    expect(await importing([file], proxy.endpoint)).toEqual({
      code: 1,
      stdout: "200 orders: 60 written, 0 already there, 140 not written\n",
      stderr:
        "AWS denied access: not authorized to perform PutItem. Run it again to write the rest.\n",
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

describe("checking against the table", () => {
  let file: string;
  beforeEach(async () => {
    file = await operator.write("orders.ndjson", '{"id":1}\n{"id":2}');
  });
  const check = (...options: string[]) => importing([file, "--check", ...options]);

  test("counts what is the same, differs and is missing", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    expect(await check()).toEqual({
      code: 1,
      stdout: "2 orders: 0 the same, 1 differs, 1 missing\n",
      stderr: "Order 1 in the table differs: status\n",
    });
  });

  test("says the same as JSON", async () => {
    await tables.putOrder({ id: { N: "1" }, status: { S: "shipped" } });
    expect(JSON.parse((await check("--json")).stdout)).toEqual({
      badLines: [],
      ...{ orders: 2, same: 0, differ: 1, missing: 1, notCompared: 0 },
      differing: [{ id: 1, fields: ["status"] }],
    });
  });

  test("accepts a table that has every order as it is in the file, and others", async () => {
    await tables.putOrder({ id: { N: "3" }, status: { S: "shipped" } });
    await importing([file]);
    expect(await check()).toMatchObject({
      code: 0,
      stdout: "2 orders: 2 the same, 0 differ, 0 missing\n",
    });
  });

  test("reads the table by consistent scans, and writes nothing", async () => {
    const { proxy } = await tables.behindProxy(({ operation, input }) => {
      if (operation === "Scan") expect(JSON.parse(input)).toMatchObject({ ConsistentRead: true });
      return undefined;
    });
    await importing([file, "--check"], proxy.endpoint);
    expect([...proxy.attempts.keys()]).toEqual(["DescribeTable", "Scan"]);
  });

  test("counts as not compared, and not as missing, what it could not read", async () => {
    const { proxy } = await tables.behindProxy(onEvery("Scan", rejectedAs("AccessDenied")));
    const { code, stdout, stderr } = await importing([file, "--check"], proxy.endpoint);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: "2 orders: 0 the same, 0 differ, 0 missing, 2 not compared\n",
    });
    expect(stderr).toMatch(/^AWS denied access: .*\. Run it again to check the rest\.\n$/);
  });
});
