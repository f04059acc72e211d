import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import { environments } from "../../infra/environments.ts";
import { grouped } from "../../infra/terminal/counted.ts";
import type { OrderItem } from "../../shared/order.ts";
import { root } from "../helpers/admin-command.ts";
import { createTable } from "../helpers/create-table.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { commandsHere, runHere } from "./command-here.ts";
import { order } from "./repair-scenario.ts";

const tables = await createTestTables();
/** A table that is not in use. */
let other: string;
beforeEach(() => {
  other = `Other-${randomUUID()}`;
});
const putOther = async (kind: "orders" | "apiKeys", ...items: OrderItem[]): Promise<void> => {
  await createTable(tables.client, kind, other);
  for (const Item of items)
    await tables.client.send(new PutItemCommand({ TableName: other, Item }));
};
const folder = await mkdtemp(join(tmpdir(), "admin-options-"));
afterAll(() => rm(folder, { recursive: true }));
const key = (name: string) => ({
  keyHash: { S: name },
  keyId: { S: `key_${name}` },
  name: { S: name },
  createdAt: { N: "0" },
});

describe("a command", () => {
  test("exports the table that --table names", async () => {
    await putOther("orders", order(5, "pending"));
    const run = commandsHere(tables);
    const { stdout } = await run(["orders", "export", "--table", other]);
    expect(stdout).toContain('"id":5,');
  });

  test("lists the active keys of the table that --table names", async () => {
    await putOther("apiKeys", key("old"), { ...key("revoked"), revokedAt: { N: "1" } });
    const run = commandsHere(tables);
    const { stdout } = await run(["keys", "list", "--active", "--json", "--table", other]);
    expect(JSON.parse(stdout)).toMatchObject([{ keyId: "key_old" }]);
  });

  test("that reads and writes has a rate for each", async () => {
    await putOther("apiKeys", key("old"));
    const scan = vi.spyOn(TableCalls.prototype, "scan");
    const insert = vi.spyOn(TableCalls.prototype, "insert");
    onTestFinished(() => void vi.restoreAllMocks());
    const run = commandsHere(tables);
    await run(["keys", "repair", "--from", other]);
    expect(insert.mock.contexts[0]).not.toBe(scan.mock.contexts[0]);
  });

  describe("that uses capacity", () => {
    const file = join(folder, "one.ndjson");
    const line = {
      timestamp: "2026-11-20T08:00:00.123Z",
      requestId: "request_1",
      message: { event: "order_cancelled", keyId: "key_1", orderId: "1" },
    };
    beforeAll(async () => {
      await writeFile(file, '{"id":1}\n');
      await writeFile(log, JSON.stringify(line));
    });
    beforeEach(async () => {
      await tables.putKey({ keyId: "key_0123456789abcdef" });
    });
    const { reads, writes } = environments.production.tableThroughput;
    const log = join(folder, "cancelled.log");
    const commands: [args: string[], units: string][] = [
      [["import", file], `${grouped(writes / 2)} write`],
      [["import", "--check", file], `${grouped(reads / 2)} read`],
      [["export"], `${grouped(reads / 2)} read`],
      [["ship", "1"], `${grouped(writes / 2)} write`],
      [["list"], `${grouped(reads / 2)} read`],
      [["count"], `${grouped(reads / 2)} read`],
      [
        ["reinstate", "--cancelled-by", "key_0123456789abcdef", "--since", "2026-11-20"],
        `${grouped(writes / 2)} write`,
      ],
      [["audit", "--log", log], `${grouped(reads / 2)} read`],
    ];

    test.each(commands)("leaves half of it to the service: orders %j", async (args, units) => {
      const run = commandsHere(tables);
      const { stderr } = await run(["orders", ...args]);
      expect(stderr).toContain(`Using at most ${units} units a second (--rate)\n`);
    });

    test.each(commands)("rejects a rate of 0: orders %j", async (args) => {
      const run = commandsHere(tables);
      expect(await run(["orders", ...args, "--rate", "0"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Must be a whole number from 1 to 999999."),
      });
    });

    test("needs only the permissions in PERMISSIONS.md", async () => {
      const { proxy } = await tables.behindProxy(() => undefined);
      const run = commandsHere(tables, proxy.endpoint);
      for (const [args] of commands) await run(["orders", ...args]);
      const page = await readFile(join(root, "infra/PERMISSIONS.md"), "utf8");
      const policy = /^## Orders\n\n```json\n(.*?)```/ms.exec(page)?.[1];
      const actions = JSON.parse(String(policy)).Statement.flatMap(
        ({ Action }: { Action: string | string[] }) => Action,
      );
      const used = [...proxy.attempts.keys()].map((operation) => `dynamodb:${operation}`);
      expect(used).toContain("dynamodb:PutItem");
      expect(used).toContain("dynamodb:UpdateItem");
      expect(used).toContain("dynamodb:Scan");
      expect(used).toContain("dynamodb:BatchGetItem");
      expect(actions).toEqual(expect.arrayContaining(used));
    });
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

  test("imports orders from a named pipe", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const run = commandsHere(tables);
    const [{ stdout }] = await Promise.all([
      run(["orders", "import", pipe]),
      writeFile(pipe, '{"id":1}\n{"id":2}\n'),
    ]);
    expect(stdout).toBe("2 orders: 2 written, 0 already there, 0 different, 0 not written\n");
  });

  test.each([
    ["orders repair --from", ["orders", "repair", "--from", "Typo"]],
    ["keys list --table", ["keys", "list", "--table", "Typo"]],
  ])("says only that a table does not exist: %s", async (_, args) => {
    expect(await runHere(tables, args)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^There is no table Typo\. .*\n$/),
    });
  });
});
