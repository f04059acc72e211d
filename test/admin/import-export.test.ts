import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parseOrderLine } from "../../infra/order-lines.ts";
import { createOperator, type Operator } from "./admin-process.ts";
import { createEngineProxy } from "./engine-proxy.ts";
import { createTestTables, type TestTables } from "./test-tables.ts";

let tables: TestTables;
let operator: Operator;

beforeAll(async () => {
  [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
});
beforeEach(async () => {
  await operator.pointTo(tables);
  await tables.empty();
});
afterAll(() => Promise.all([tables.stop(), operator.leave()]));

const orders = (...args: string[]) => operator.run(["orders", ...args, "--local"]);

/** As many lines as told, as an export writes them. */
function makeLines(count: number): string[] {
  const statuses = ["pending", "shipped", "cancelled"];
  return Array.from({ length: count }, (_, at) => {
    const rest = `"petId":${at},"shipDate":"2026-12-01T09:00:00Z","complete":${at % 2 === 0}`;
    return `{"id":${at * 7},${rest},"status":"${statuses[at % 3]}"}`;
  });
}

const sortedLines = (ndjson: string) => ndjson.trimEnd().split("\n").sort();

describe("orders import", () => {
  test("killed halfway and run again finishes the rest, every order there once", async () => {
    const lines = makeLines(1000);
    const file = await operator.write("orders.ndjson", `${lines.join("\n")}\n`);
    const { promise: halfway, resolve } = Promise.withResolvers<void>();
    let puts = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) => {
      if (operation !== "PutItem" || ++puts <= 500) return "pass";
      resolve();
      return "hold";
    });
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const running = operator.start(["orders", "import", file, "--local"]);
    await halfway;
    running.kill("SIGKILL");
    expect(await running.ended).toMatchObject({ code: null, stdout: "" });
    await proxy.stop();

    await operator.pointTo(tables);
    const again = await orders("import", file, "--json");
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toEqual({
      badLines: [],
      orders: 1000,
      written: 500,
      alreadyThere: 500,
      failed: 0,
    });
    const exported = await orders("export");
    expect(exported).toMatchObject({ code: 0, stderr: "1000 orders exported\n" });
    expect(sortedLines(exported.stdout)).toEqual(lines.sort());
  });

  test("interrupted ends by itself with counts that add up", async () => {
    const file = await operator.write("orders.ndjson", makeLines(300).join("\n"));
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    let puts = 0;
    const throttled = { status: 400, body: { __type: "com.amazonaws.dynamodb.v20120810#ThrottlingException" } };
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) => {
      if (operation !== "PutItem" || ++puts <= 100) return "pass";
      if (puts > 200) resolve();
      return throttled;
    });
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const running = operator.start(["orders", "import", file, "--local", "--json"]);
    await begun;
    running.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    await proxy.stop();
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ badLines: [], orders: 300, written: 100, alreadyThere: 0, failed: 200 });
    expect(stderr).toBe("Interrupted. Run it again to write the rest.\n");
    expect(await tables.items("orders")).toHaveLength(100);
  });

  test("never overwrites an order, so it resurrects none that was cancelled", async () => {
    const cancelled = { id: { N: "1" }, status: { S: "cancelled" }, cancelledBy: { S: "key_1" } };
    await tables.put("orders", cancelled);
    const file = await operator.write("orders.ndjson", '\n{"id":1,"status":"pending"}\r\n\n{"id":2}');
    expect(await orders("import", file)).toEqual({
      code: 0,
      stdout: "2 orders: 1 written, 1 already there, 0 failed\n",
      stderr: "",
    });
    const items = await tables.items("orders");
    expect(items).toHaveLength(2);
    expect(items).toEqual(expect.arrayContaining([cancelled, { id: { N: "2" }, status: { S: "pending" } }]));
  });

  test("tries a throttled write again, for longer than the SDK does, and counts one whose answer was lost", async () => {
    const file = await operator.write("orders.ndjson", '{"id":1}\n{"id":2}');
    const throttled = {
      status: 400,
      body: { __type: "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException" },
    };
    let puts = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) => {
      if (operation !== "PutItem") return "pass";
      puts++;
      if (puts <= 10) return throttled;
      return puts === 11 ? "lose the answer" : "pass";
    });
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const { code, stdout } = await orders("import", file);
    await proxy.stop();
    expect(puts).toBe(13);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "2 orders: 2 written, 0 already there, 0 failed\n" });
  });

  test("stops at a failure, with one line and counts that add up", async () => {
    const file = await operator.write("orders.ndjson", makeLines(200).join("\n"));
    let puts = 0;
    const proxy = await createEngineProxy(tables.dynamodbEndpoint, (operation) =>
      operation === "PutItem" && ++puts > 60
        ? { status: 400, body: { __type: "AccessDeniedException", message: "not authorized to perform PutItem" } }
        : "pass",
    );
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const { code, stdout, stderr } = await orders("import", file);
    await proxy.stop();
    expect({ code, stdout }).toEqual({ code: 1, stdout: "200 orders: 60 written, 0 already there, 140 failed\n" });
    expect(stderr).toBe(
      "AWS denies this to these credentials: not authorized to perform PutItem. Run it again to write the rest.\n",
    );
  });

  const badLines: [string, string][] = [
    ["not json", "it is not JSON"],
    ['{"id":1', "it is not JSON"],
    ["[1]", "it is not a JSON object"],
    ["null", "it is not a JSON object"],
    ['{"petId":1}', "id is missing"],
    ['{"id":"1"}', "id is not an int64"],
    ['{"id":9223372036854775808}', "id is not an int64"],
    ['{"id":1.0}', "id is not an int64"],
    ['{"id":-0}', "id is not an int64"],
    ['{"id":1,"petId":-9223372036854775809}', "petId is not an int64"],
    ['{"id":1,"quantity":1.5}', "quantity is not an int64"],
    ['{"id":1,"shipDate":"2026-02-30T00:00:00Z"}', "shipDate is not an ISO 8601 date-time"],
    ['{"id":1,"shipDate":"2026-02-28"}', "shipDate is not an ISO 8601 date-time"],
    ['{"id":1,"shipDate":1764547200}', "shipDate is not an ISO 8601 date-time"],
    ['{"id":1,"complete":"true"}', "complete is not true or false"],
    ['{"id":1,"status":"held"}', "status is not one of pending, shipped, cancelled"],
    ['{"id":1,"colour":"red"}', '"colour" is no field of an order'],
    ['{"id":1,"__proto__":{}}', '"__proto__" is no field of an order'],
    ['{"id":1,"\\u001b[2J":1}', String.raw`"\u001b[2J" is no field of an order`],
    ['{"id":1,"\u009b2J":1}', String.raw`"\u{9b}2J" is no field of an order`],
    ['{"id":1,"id":2}', "a field is given twice"],
    ['{"id":1,"status":"shipped","cancelledBy":"key_1"}', "cancelledBy is only for a cancelled order"],
    ['{"petId":"x","complete":0}', "petId is not an int64; complete is not true or false; id is missing"],
    [`{"id":1,"x":"${"y".repeat(70_000)}"}`, "it is longer than 65536 bytes"],
    ['{"id":5}', "id 5 is on line 2 already"],
  ];

  test("refuses a file whole, names every bad line and writes nothing", async () => {
    const lines = ['{"id":4}', '{"id":5}', ...badLines.map(([line]) => line), '{"id":6}'];
    const file = await operator.write("bad.ndjson", lines.join("\n"));
    const { code, stdout, stderr } = await orders("import", file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const told = stderr.trimEnd().split("\n");
    expect(told.pop()).toBe(`${badLines.length} of ${lines.length} lines are bad: nothing was written`);
    expect(told).toEqual(badLines.map(([, reason], at) => expect.stringContaining(`${file}:${at + 3}: ${reason}`)));
    expect(stderr).not.toMatch(/[^\P{C}\n]/u);
    const json = await orders("import", file, "--json");
    expect(json).toMatchObject({ code: 1, stderr: "" });
    const report = JSON.parse(json.stdout);
    expect(report).toMatchObject({ orders: lines.length, written: 0, alreadyThere: 0, failed: lines.length });
    expect(report.badLines.map(({ line }: { line: number }) => line)).toEqual(badLines.map((_, at) => at + 3));
    expect(await tables.items("orders")).toEqual([]);
  });

  test("checks many lines at little memory", async () => {
    const lines = makeLines(150_000).join("\n");
    const file = await operator.write("many.ndjson", `${lines}\n{"id":0}\n`);
    const peak = await operator.write(
      "peak.cjs",
      'process.on("exit", () => console.error(process.resourceUsage().maxRSS));',
    );
    const { stderr } = await operator.run(["orders", "import", file, "--local"], {
      env: { NODE_OPTIONS: `--require ${peak}` },
    });
    const [repeated, summary, kilobytes] = stderr.split("\n");
    expect(repeated).toBe(`${file}:150001: id 0 is on line 1 already`);
    expect(summary).toBe("1 of 150001 lines are bad: nothing was written");
    expect(Number(kilobytes)).toBeLessThan(200_000);
  });

  test("reads no folder, no pipe and nothing that is not there", async () => {
    expect(await orders("import", operator.folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not a regular file"),
    });
    expect(await orders("import", "/dev/null")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not a regular file"),
    });
    expect(await orders("import", `${operator.folder}/none`)).toEqual({
      code: 1,
      stdout: "",
      stderr: `${operator.folder}/none: no such file or directory\n`,
    });
  });
});

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
      if ("row" in parsed) await tables.put("orders", parsed.row);
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
      "Order 2 left out: it has no status",
      'Order 3 left out: "gift" is no field of an order',
      "Order 4 left out: petId is not an int64",
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
