import { execFileSync } from "node:child_process";
import { chmod, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { writeLines } from "../../infra/admin/export-orders.ts";
import { parseOrderLine } from "../../infra/orders-file/order-line.ts";
import { type Behaviour, onEvery, respond } from "../helpers/faults/fault-proxy.ts";
import { rejectedAs } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOperator } from "./admin-process.ts";
import { commandsHere, runHere } from "./command-here.ts";
import { clearedLine, makeLines, sortedLines } from "./orders-file.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
/** The engine, or a proxy before it. */
let endpoint: string;
const orders = (...args: string[]) =>
  runHere({ ...tables, dynamodbEndpoint: endpoint }, ["orders", ...args]);

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

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
    '{"id":9223372036854775807,"petId":9007199254740993,"shipDate":"2026-12-01T09:00:00.123456789+05:30","status":"shipped"}',
    '{"id":0,"status":"cancelled"}',
    '{"id":1,"status":"cancelled","cancelledAt":"2026-11-20T08:00:00.000Z","cancelledBy":"key_1","cancellationId":"5f3f"}',
    '{"id":2,"otherAttributes":{"colour":{"SS":["blue","red"]},"petId":{"L":[]},"photo":{"B":"AP8="},"status":{"S":"held"}}}',
    '{"id":3,"status":null,"otherAttributes":{"price":{"M":{"amount":{"N":"12345678901234567890123456789012345678"}}}}}',
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
      stdout: "6 orders: 6 written, 0 already there, 0 not written\n",
      stderr: "",
    });
    const after = await tables.items("orders");
    expect(after).toHaveLength(lines.length);
    expect(after).toEqual(expect.arrayContaining(before));
  });

  test("reads every page, each consistently", async () => {
    await putLines(makeLines(5));
    const scans: string[] = [];
    const { proxy } = await tables.behindProxy(
      onEvery("Scan", (exchange) => {
        scans.push(exchange.input);
        return smallPage(exchange);
      }),
    );
    endpoint = proxy.endpoint;
    const { stdout, stderr } = await orders("export", "--json");
    expect(sortedLines(stdout)).toEqual(makeLines(5).sort());
    expect(stderr).toBe("Exported 5 orders\n");
    expect(scans.length).toBeGreaterThan(1);
    for (const input of scans) expect(JSON.parse(input)).toMatchObject({ ConsistentRead: true });
  });

  test("without a file prints orders on stdout and names on stderr each one that no line can hold", async () => {
    const ids = ["1.5", "9223372036854775808", "5"];
    for (const N of ids) await tables.putOrder({ id: { N }, status: { S: "pending" } });
    const { code, stdout, stderr } = await orders("export");
    expect({ code, stdout }).toEqual({ code: 1, stdout: '{"id":5,"status":"pending"}\n' });
    expect(stderr.trimEnd().split("\n").sort()).toEqual([
      "Exported 1 order, skipped 2",
      "Order 1.5 skipped: id is not a 64-bit integer",
      "Order 9223372036854775808 skipped: id is not a 64-bit integer",
    ]);
  });

  test("whose second page fails leaves the last export as it was, and nothing beside it", async () => {
    await putLines(makeLines(5));
    const file = await operator.write("orders.ndjson", "the last export\n");
    let scans = 0;
    const { proxy } = await tables.behindProxy(
      onEvery("Scan", (exchange) =>
        (++scans === 1 ? smallPage : rejectedAs("ResourceNotFoundException"))(exchange),
      ),
    );
    endpoint = proxy.endpoint;
    const missing = `There is no table ${tables.tables.orders}. Check its name, and whether its stack was deleted or replaced`;
    expect(await orders("export", file)).toEqual({ code: 1, stdout: "", stderr: `${missing}\n` });
    expect(scans).toBeGreaterThan(1);
    expect(await operator.read("orders.ndjson")).toBe("the last export\n");
    expect((await readdir(operator.folder)).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("to a pipe writes there, and leaves it", async () => {
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

  test("into a missing folder, or to a folder, fails with the name that was typed", async () => {
    const path = `${operator.folder}/none/orders.ndjson`;
    expect(await orders("export", path)).toMatchObject({
      code: 1,
      stderr: `${path}: no such file or directory\n`,
    });
    const { folder } = operator;
    expect(await orders("export", folder)).toMatchObject({
      code: 1,
      stderr: `${folder} is a folder\n`,
    });
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

  test("that is interrupted leaves no file behind, and meets no other export to its file", async () => {
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

test("an export that replaces a private file is private while it is written", async () => {
  const path = join(operator.folder, "private.ndjson");
  await writeFile(path, "");
  await chmod(path, 0o600);
  const modes: number[] = [];
  const lines = async function* () {
    yield "{}\n";
    modes.push(await vi.waitFor(() => modeOf(`${path}.${process.pid}.partial`)));
  };
  await writeLines(path, lines);
  expect([...modes, await modeOf(path)]).toEqual([0o600, 0o600]);
});

test("an export to a symbolic link replaces the file behind it, which keeps its mode", async () => {
  const [path, link] = [
    join(operator.folder, "behind.ndjson"),
    join(operator.folder, "link.ndjson"),
  ];
  await writeFile(path, "the last export\n");
  await chmod(path, 0o666);
  await symlink(path, link);
  await writeLines(link, async function* () {});
  expect([await readFile(path, "utf8"), await readlink(link), await modeOf(path)]).toEqual([
    "",
    path,
    0o666,
  ]);
});

test("an export never writes through what is already beside its file", async () => {
  const [path, other] = [join(operator.folder, "mine.ndjson"), join(operator.folder, "others")];
  await writeFile(other, "theirs");
  await symlink(other, `${path}.${process.pid}.partial`);
  await expect(writeLines(path, async function* () {})).rejects.toThrow(
    "mine.ndjson: file already exists",
  );
  expect(await readFile(other, "utf8")).toBe("theirs");
});

test.each([
  ["its share of the table", () => undefined, "100%"],
  [
    "its number of orders, where no one may ask for the table's",
    onEvery("DescribeTable", rejectedAs("AccessDeniedException")),
    "1 orders",
  ],
])("an export shows on a terminal %s", async (_, described, shown) => {
  await tables.putOrder({ id: { N: "1" } });
  const { proxy } = await tables.behindProxy(described);
  const run = commandsHere(tables, proxy.endpoint);
  const { code, stderr } = await run(["orders", "export"], "stderr");
  const [bar, rest] = stderr.split(clearedLine);
  expect(code).toBe(0);
  expect(bar).toContain(`Exporting ${shown}`);
  expect(rest).toBe("Exported 1 order\n");
});

test("an export of orders that scroll by shows nothing else", async () => {
  await tables.putOrder({ id: { N: "1" } });
  const run = commandsHere(tables);
  const { stdout, stderr } = await run(["orders", "export"], "stdout", "stderr");
  expect(stdout).toBe('{"id":1,"status":null}\n');
  expect(stderr).not.toContain("Exporting");
});

test("an export names on a clear line what it skips", async () => {
  await tables.putOrder({ id: { N: "1.5" } });
  const run = commandsHere(tables);
  const { code, stderr } = await run(["orders", "export"], "stderr");
  expect(code).toBe(1);
  expect(stderr).toContain(`${clearedLine}Order 1.5 skipped: id is not a 64-bit integer\n`);
});
