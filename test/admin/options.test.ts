import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import { environments } from "../../infra/environments.ts";
import { root } from "../helpers/admin-command.ts";
import { createTable } from "../helpers/create-table.ts";
import { rejectedAs } from "../helpers/faults/faults.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { commandsHere, runHere } from "./command-here.ts";
import { createOldTable, order } from "./old-orders.ts";

const tables = await createTestTables();
const oldOrders = createOldTable(tables, "orders");
const oldKeys = createOldTable(tables, "apiKeys");
const folder = await mkdtemp(join(tmpdir(), "admin-options-"));
afterAll(() => rm(folder, { recursive: true }));
const key = (name: string) => ({
  keyHash: { S: name },
  keyId: { S: `key_${name}` },
  name: { S: name },
  createdAt: { N: "0" },
});

describe("a command", () => {
  test("reads the table that --table names", async () => {
    await oldOrders.putOld(order(5, "pending"));
    const revoked = { ...key("revoked"), revokedAt: { N: "1" } };
    await oldKeys.putOld(key("old"), revoked);
    const run = commandsHere(tables);
    expect(await run(["orders", "export", "--table", oldOrders.name()])).toMatchObject({
      stdout: expect.stringContaining('"id":5,'),
    });
    expect(
      JSON.parse(
        (await run(["keys", "list", "--active", "--json", "--table", oldKeys.name()])).stdout,
      ),
    ).toMatchObject([{ keyId: "key_old" }]);
  });

  test("carries keys over to the table of keys, and orders to that of orders", async () => {
    await oldKeys.putOld(key("old"));
    await oldOrders.putOld(order(5, "pending"));
    const [scan, insert] = [
      vi.spyOn(TableCalls.prototype, "scan"),
      vi.spyOn(TableCalls.prototype, "insert"),
    ];
    onTestFinished(() => void vi.restoreAllMocks());
    const run = commandsHere(tables);
    expect(await run(["keys", "carry-over", "--from", oldKeys.name()])).toMatchObject({ code: 0 });
    expect(await tables.items("apiKeys")).toEqual([key("old")]);
    expect(await run(["orders", "carry-over", "--from", oldOrders.name()])).toMatchObject({
      code: 0,
    });
    expect(await tables.items("orders")).toEqual([order(5, "pending")]);
    // Reads and writes have rates of their own.
    expect(insert.mock.contexts[0]).not.toBe(scan.mock.contexts[0]);
  });

  test.each([
    ["orders", tables.tables.orders],
    ["keys", tables.tables.apiKeys],
  ])("restores the table of %s", async (kind, table) => {
    const inputs: string[] = [];
    const { proxy } = await tables.behindProxy(({ input }) => {
      inputs.push(input);
      return rejectedAs("PointInTimeRecoveryUnavailableException");
    });
    const run = commandsHere(tables, proxy.endpoint);
    expect(await run([kind, "restore", "--time", "2026-11-20"])).toMatchObject({ code: 1 });
    expect(inputs).toEqual([expect.stringContaining(`"SourceTableName":"${table}"`)]);
  });

  test("that uses capacity leaves half of it to the service, or what --rate says, and needs no more than the documented permissions", async () => {
    const file = join(folder, "empty.ndjson");
    await writeFile(file, "");
    const { proxy } = await tables.behindProxy(() => undefined);
    const run = commandsHere(tables, proxy.endpoint);
    const { reads, writes } = environments.production.tableThroughput;
    const [read, write] = [`${reads / 2} read`, `${writes / 2} write`];
    for (const [args, units] of [
      [["import", file], write],
      [["import", "--check", file], read],
      [["export"], read],
      [["ship", "1"], write],
      [["list"], read],
      [["count"], read],
    ] as const) {
      expect((await run(["orders", ...args])).stderr).toContain(
        `Using at most ${units} units a second (--rate)\n`,
      );
      expect(await run(["orders", ...args, "--rate", "0"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Must be a whole number from 1 to 999999."),
      });
    }
    const [, policy = ""] =
      /^## Orders\n\n```json\n(.*?)```/ms.exec(
        await readFile(join(root, "infra/PERMISSIONS.md"), "utf8"),
      ) ?? [];
    const actions = JSON.parse(policy).Statement.flatMap(
      ({ Action }: { Action: string | string[] }) => Action,
    );
    for (const operation of proxy.attempts.keys())
      expect(actions).toContain(`dynamodb:${operation}`);
  });

  test("looks for files in the folder from which npm was called", async () => {
    vi.stubEnv("npm_lifecycle_event", "admin");
    vi.stubEnv("INIT_CWD", folder);
    const run = commandsHere(tables);
    await tables.putOrder(order(1, "pending"));
    await run(["orders", "export", "exported.ndjson"]);
    expect(await readFile(join(folder, "exported.ndjson"), "utf8")).toMatch(/^\{"id":1,.*\n$/);
    expect((await run(["orders", "import", "exported.ndjson"])).stdout).toContain(
      "1 already there",
    );
    await writeFile(join(folder, "ids.txt"), "1\n");
    expect((await run(["orders", "ship", "--file", "ids.txt"])).stdout).toContain(
      "Order 1 has shipped",
    );
    expect((await run(["orders", "ship", "--file", "none.txt"])).stderr).toMatch(
      /\nnone\.txt: no such file or directory\n$/,
    );
  });

  test("imports what a named pipe gives", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const run = commandsHere(tables);
    const [{ stdout }] = await Promise.all([
      run(["orders", "import", pipe]),
      writeFile(pipe, '{"id":1}\n{"id":2}\n'),
    ]);
    expect(stdout).toBe("2 orders: 2 written, 0 already there, 0 not written\n");
  });

  test("names a table that does not exist, and says nothing of success", async () => {
    await oldOrders.putOld(order(1, "shipped"));
    const stderr = expect.stringMatching(/^There is no table Typo\. .*\n$/);
    for (const tableOptions of [
      ["--from", "Typo"],
      ["--from", oldOrders.name(), "--to", "Typo"],
    ]) {
      const args = ["orders", "carry-over", ...tableOptions];
      expect(await runHere(tables, args)).toEqual({ code: 1, stdout: "", stderr });
    }
    expect(await runHere(tables, ["keys", "list", "--table", "Typo"])).toEqual({
      code: 1,
      stdout: "",
      stderr,
    });
  });

  test("takes its tables and the keys to leave out from the command line", async () => {
    const to = `New-${randomUUID()}`;
    await createTable(tables.client, "orders", to);
    await tables.putOrder({
      id: { N: "1" },
      status: { S: "cancelled" },
      cancelledBy: { S: "key_a" },
    });
    await tables.putOrder({
      id: { N: "2" },
      status: { S: "cancelled" },
      cancelledBy: { S: "key_b" },
    });
    const args = ["orders", "carry-over", "--from", tables.tables.orders, "--to", to];
    const leftOut = await runHere(tables, [
      ...args,
      "--dry-run",
      "--not-by",
      "key_a",
      "--not-by",
      "key_b",
    ]);
    // The second finds what the first did, if it wrote.
    expect(
      await runHere(tables, [...args, "--dry-run", "--not-by", "key_a", "--not-by", "key_b"]),
    ).toEqual(leftOut);
    expect(leftOut).toEqual({
      code: 0,
      stdout: `Would carry over to ${to}: 2 placed, 0 shipped, 0 cancelled, 0 changed, 0 already so, 2 left out, 0 disagreeing\n`,
      stderr: "",
    });
    expect(await runHere(tables, ["orders", "carry-over", "--from", tables.tables.orders])).toEqual(
      {
        code: 1,
        stdout: "",
        stderr: `${tables.tables.orders} is the table in use: name the new one with --to\n`,
      },
    );
  });
});
