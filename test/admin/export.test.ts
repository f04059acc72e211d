import { execFileSync } from "node:child_process";
import { readdir, readFile, stat } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { parseOrderLine } from "../../infra/orders-file/order-line.ts";
import { type Behaviour, onEvery, respond } from "../helpers/faults/fault-proxy.ts";
import { rejectedAs } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { commandsHere, runHere } from "./command-here.ts";
import { erased, makeLines, sortedLines } from "./orders-file.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
/** The engine, or a proxy before it. */
let endpoint: string;
const orders = (...args: string[]) =>
  runHere({ ...tables, dynamodbEndpoint: endpoint }, ["orders", ...args]);

async function putLines(lines: string[]): Promise<void> {
  for (const line of lines) {
    const parsed = parseOrderLine(line);
    if ("problems" in parsed) throw new Error(`${line}: ${parsed.problems}`);
    await tables.putOrder(parsed.item);
  }
}

beforeEach(() => {
  endpoint = tables.dynamodbEndpoint;
  return operator.pointTo(tables);
});

/** Lets the engine scan only two orders a page. */
const smallPage: Behaviour = async ({ forward, input, response }) =>
  respond(response, await forward(JSON.stringify({ ...JSON.parse(input), Limit: 2 })));

describe("orders export", () => {
  const lines = [
    '{"id":-9223372036854775808,"petId":-1,"quantity":0,"complete":false,"status":"pending"}',
    '{"id":9223372036854775807,"petId":9007199254740993,' +
      '"shipDate":"2026-12-01T09:00:00.123456789+05:30","status":"shipped"}',
    '{"id":0,"status":"cancelled"}',
    '{"id":1,"status":"cancelled","cancelledAt":"2026-11-20T08:00:00.000Z",' +
      '"cancelledBy":"key_0123456789abcdef","cancellationId":"5f3f"}',
    '{"id":2,"otherAttributes":{"colour":{"SS":["blue","red"]},"petId":{"L":[]},' +
      '"photo":{"B":"AP8="},"status":{"S":"held"}}}',
    '{"id":3,"status":null,"otherAttributes":{"price":' +
      '{"M":{"amount":{"N":"12345678901234567890123456789012345678"}}}}}',
  ];

  test("followed by an import restores the table", async () => {
    await putLines(lines);
    const before = await tables.items("orders");
    const file = `${operator.folder}/exported.ndjson`;
    expect(await orders("export", file, "--json")).toEqual({
      code: 0,
      stdout: '{"orders":6,"skipped":0}\n',
      stderr: "",
    });
    expect(sortedLines(await operator.read("exported.ndjson"))).toEqual([...lines].sort());
    await tables.empty();
    expect(await orders("import", file)).toEqual({
      code: 0,
      stdout: "6 orders: 6 written, 0 already there, 0 different, 0 not written\n",
      stderr: "",
    });
    const after = await tables.items("orders");
    expect(after).toHaveLength(lines.length);
    expect(after).toEqual(expect.arrayContaining(before));
  });

  describe("of more than a page", () => {
    const exportPages = async () => {
      await putLines(makeLines(5));
      const scans: string[] = [];
      const { proxy } = await tables.behindProxy(
        onEvery("Scan", (exchange) => {
          scans.push(exchange.input);
          return smallPage(exchange);
        }),
      );
      endpoint = proxy.endpoint;
      return { scans, ...(await orders("export", "--json")) };
    };

    test("reads every page", async () => {
      const { scans, stdout, stderr } = await exportPages();
      expect(sortedLines(stdout)).toEqual(makeLines(5).sort());
      expect(stderr).toBe("Exported 5 orders\n");
      expect(scans.length).toBeGreaterThan(1);
    });

    test("reads every page consistently", async () => {
      const { scans } = await exportPages();
      expect(scans.length).toBeGreaterThan(1);
      for (const input of scans) expect(JSON.parse(input)).toMatchObject({ ConsistentRead: true });
    });
  });

  describe("of a table with invalid ids", () => {
    const exportSkipping = async () => {
      const ids = ["1.5", "9223372036854775808", "5"];
      for (const N of ids) await tables.putOrder({ id: { N }, status: { S: "pending" } });
      return await orders("export");
    };

    test("prints the valid orders on standard output", async () => {
      const { stdout } = await exportSkipping();
      expect(stdout).toBe('{"id":5,"status":"pending"}\n');
    });

    test("exits with code 1", async () => {
      expect(await exportSkipping()).toMatchObject({ code: 1 });
    });

    test("names the skipped orders on standard error", async () => {
      const { stderr } = await exportSkipping();
      expect(stderr.trimEnd().split("\n").sort()).toEqual([
        "Exported 1 order, skipped 2",
        "Order 1.5 skipped: id is not a 64-bit integer",
        "Order 9223372036854775808 skipped: id is not a 64-bit integer",
      ]);
    });
  });

  describe("when the second page fails", () => {
    const exportFailing = async () => {
      await putLines(makeLines(5));
      const file = await operator.write("orders.ndjson", "the last export\n");
      let scans = 0;
      const { proxy } = await tables.behindProxy(
        onEvery("Scan", (exchange) =>
          (++scans === 1 ? smallPage : rejectedAs("ResourceNotFoundException"))(exchange),
        ),
      );
      endpoint = proxy.endpoint;
      const ended = await orders("export", file);
      expect(scans).toBeGreaterThan(1);
      return ended;
    };

    test("says why", async () => {
      const missing =
        `There is no table ${tables.tables.orders}. ` +
        "Check its name, and whether its stack was deleted or replaced\n";
      expect(await exportFailing()).toEqual({ code: 1, stdout: "", stderr: missing });
    });

    test("leaves the last export as it was", async () => {
      await exportFailing();
      expect(await operator.read("orders.ndjson")).toBe("the last export\n");
    });

    test("leaves no partial file", async () => {
      await exportFailing();
      const names = await readdir(operator.folder);
      expect(names.filter((name) => name.includes("partial"))).toEqual([]);
    });
  });

  test("to a pipe writes there instead of replacing it", async () => {
    await putLines(lines);
    const pipe = `${operator.folder}/pipe`;
    execFileSync("mkfifo", [pipe]);
    const [content, ended] = await Promise.all([readFile(pipe, "utf8"), orders("export", pipe)]);
    expect(sortedLines(content)).toEqual([...lines].sort());
    expect(ended).toEqual({
      code: 0,
      stdout: `Exported ${lines.length} orders to ${pipe}\n`,
      stderr: "",
    });
    expect((await stat(pipe)).isFIFO()).toBe(true);
  });

  test("into a missing folder fails with the name that was typed", async () => {
    const path = `${operator.folder}/none/orders.ndjson`;
    const stderr = `${path}: no such file or directory\n`;
    expect(await orders("export", path)).toMatchObject({ code: 1, stderr });
  });

  test("to a folder fails with the name that was typed", async () => {
    const { folder } = operator;
    const stderr = `${folder} is a folder\n`;
    expect(await orders("export", folder)).toMatchObject({ code: 1, stderr });
  });

  // Not even a handler of the signal would run while a write to a full pipe blocks.
  test("to standard output ends at the first Ctrl-C, even if no one reads it", async () => {
    const scanning = Promise.withResolvers<void>();
    const { proxy } = await tables.behindProxy(() => () => scanning.resolve());
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const running = operator.start(["orders", "export", "--local"]);
    await scanning.promise;
    running.kill("SIGINT");
    expect(await running.ended).toEqual({ code: null, stdout: "", stderr: "" });
  });

  test("that is interrupted leaves no file behind", async () => {
    await putLines(lines);
    const scanning = Promise.withResolvers<void>();
    const files = async () =>
      (await readdir(operator.folder)).filter((name) => name.startsWith("stopped"));
    const { proxy } = await tables.behindProxy(
      onEvery("Scan", (exchange) => {
        if (proxy.attempts.get("Scan") === 1) return smallPage(exchange);
        scanning.resolve();
      }),
    );
    await operator.pointTo({ ...tables, dynamodbEndpoint: proxy.endpoint });
    const running = operator.start([
      "orders",
      "export",
      `${operator.folder}/stopped.ndjson`,
      "--local",
    ]);
    await scanning.promise;
    await expect
      .poll(files)
      .toEqual([expect.stringMatching(/^stopped\.ndjson\.[1-9]\d*\.partial$/)]);
    running.kill("SIGHUP");
    expect(await running.ended).toEqual({ code: 1, stdout: "", stderr: "Interrupted\n" });
    expect(await files()).toEqual([]);
  });
});

test.each([
  ["the percentage of the table that is done", () => undefined, "100%"],
  [
    "the number of orders when it may not ask how many there are",
    onEvery("DescribeTable", rejectedAs("AccessDeniedException")),
    "1 orders,",
  ],
])("an export on a terminal shows %s", async (_, described, shown) => {
  await tables.putOrder({ id: { N: "1" } });
  const { proxy } = await tables.behindProxy(described);
  const run = commandsHere(tables, proxy.endpoint);
  const { code, stderr } = await run(["orders", "export"], "stderr");
  const [, line, rest] = stderr.split(erased);
  expect(code).toBe(0);
  expect(line).toContain(`Exporting ${shown}`);
  expect(rest).toBe("Exported 1 order\n");
});

test("an export that prints orders on a terminal shows no progress", async () => {
  await tables.putOrder({ id: { N: "1" } });
  const run = commandsHere(tables);
  const { stdout, stderr } = await run(["orders", "export"], "stdout", "stderr");
  expect(stdout).toBe('{"id":1,"status":null}\n');
  expect(stderr).not.toContain("Exporting");
});

test("an export clears its progress line before it names a skipped order", async () => {
  await tables.putOrder({ id: { N: "1.5" } });
  const run = commandsHere(tables);
  const { code, stderr } = await run(["orders", "export"], "stderr");
  expect(code).toBe(1);
  expect(stderr).toContain(`${erased}Order 1.5 skipped: id is not a 64-bit integer\n`);
});
