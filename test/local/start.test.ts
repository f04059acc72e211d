import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { root } from "../helpers/admin-command.ts";
import { machineHas } from "../helpers/machine.ts";
import { descendants, isAlive } from "../helpers/processes.ts";
import { send } from "../helpers/send.ts";
import { createStarter, startLimit } from "./start-command.ts";

const { directory, stackFile, start, run, ordersFile } = await createStarter();

describe.runIf(machineHas("/proc or ps", "that npm start ends with all it started"))(
  "npm start",
  () => {
    test("ends at once on a signal before it is ready", async () => {
      const { pid, seen } = start(["--port", "0"]);
      await expect.poll(() => descendants(pid)).not.toEqual([]);
      process.kill(pid, "SIGHUP");
      await expect.poll(() => seen).toEqual({ stdout: "", stderr: "", ended: [0, null] });
    });

    const database = join(directory, "orders.db");

    test("prints commands that do what they say when pasted into sh, and ends everything it started on Ctrl-C", async () => {
      const lines = [
        '{"id":-7}',
        '{"id":9223372036854775807}',
        '{"id":12}',
        '{"id":2,"status":"shipped"}',
      ];
      const started = start([
        "--port",
        "0",
        "--orders",
        await ordersFile("four.ndjson", lines),
        "--db",
        database,
      ]);
      const { pid, seen } = started;
      const commands = () => seen.stdout.match(/^ {2}curl .*$/gm) ?? [];
      await expect
        .poll(() => ({ ...seen, commands: commands().length }), startLimit)
        .toMatchObject({ commands: 4 });
      const cancel = commands()[1] ?? "";
      expect(cancel).toMatch(/\/store\/orders\/12$/);
      const statuses: number[] = [];
      for (const command of [...commands(), cancel]) statuses.push(await runCurl(command));
      expect(statuses).toEqual([200, 204, 404, 409, 409]);
      const engine = await descendants(pid, "dynoxide");
      // What is stopped can't end by itself.
      onTestFinished(() => {
        for (const pid of engine.filter(isAlive)) process.kill(pid, "SIGKILL");
      });
      await expectToEnd(started, async () => {
        // Its end waits for that of its engine.
        for (const pid of engine) process.kill(pid, "SIGSTOP");
        process.kill(-pid, "SIGINT");
        await expect.poll(runningStacks).toEqual([]);
        // npm forwards a signal that the terminal has sent already.
        process.kill(-pid, "SIGINT");
        for (const pid of engine) process.kill(pid, "SIGCONT");
      });
      expect(seen.stderr).not.toContain("exited");
    });

    test("run by npm, uses the caller's paths, keeps its data, and ends when npm is killed", async () => {
      await ordersFile("more orders.ndjson", ['{"id":3}']);
      const key = makeApiKey(environments.staging.apiKeyPrefix);
      const options = [
        "--port",
        "0",
        "--json",
        "--db",
        "orders.db",
        "--orders",
        "more orders.ndjson",
        "--api-key",
        key,
      ];
      const npm = run(["npm", "--prefix", root, "start", "--silent", "--", ...options], directory);
      await expect
        .poll(() => npm.seen, startLimit)
        .toMatchObject({ stdout: expect.stringMatching(/^\{.*\}\n$/) });
      const { apiKey, ...whereabouts } = JSON.parse(npm.seen.stdout);
      expect(apiKey).toBe(key);
      expect(Object.keys(whereabouts)).toEqual([
        "baseUrl",
        "dynamodbEndpoint",
        "accessKeyId",
        "tables",
      ]);
      expect(await runningStacks()).toEqual([whereabouts]);
      const headers = { authorization: `Bearer ${apiKey}` };
      const url = `${whereabouts.baseUrl}/store/orders/12`;
      expect((await send(url, { method: "DELETE", headers })).status).toBe(409);
      const client = engineClient(whereabouts.dynamodbEndpoint, whereabouts.accessKeyId);
      const { Items = [] } = await client.send(
        new ScanCommand({ TableName: whereabouts.tables.apiKeys }),
      );
      client.destroy();
      // The key of the start before is revoked.
      expect(Items.map(({ revokedAt }) => revokedAt === undefined).sort()).toEqual([false, true]);
      await expectToEnd(npm, () => process.kill(npm.pid, "SIGKILL"), [null, "SIGKILL"]);
      expect(npm.seen.stderr.split("\n").filter((line) => line.includes("more orders"))).toEqual([
        `${directory}/more orders.ndjson was not loaded: the tables exist already. To add its orders, run:`,
        `  npm run admin -- orders import --local '${directory}/more orders.ndjson'`,
      ]);
    });
  },
);

async function runningStacks(): Promise<unknown> {
  return JSON.parse(await readFile(stackFile, "utf8"));
}

/** The status of the request that curl would send if the command were pasted into sh. */
async function runCurl(command: string): Promise<number> {
  const { stdout } = await promisify(execFile)("sh", [
    "-c",
    `curl() { printf '%s\\n' "$@"; }; ${command}`,
  ]);
  const [, , header = "", ...rest] = stdout.trimEnd().split("\n");
  const [name = "", value = ""] = header.split(": ");
  const [url = "", method = "GET"] = rest.reverse();
  return (await send(url, { method, headers: { [name]: value } })).status;
}

async function expectToEnd(
  { pid, seen }: ReturnType<typeof run>,
  end: () => unknown,
  how: unknown[] = [0, null],
) {
  const processes = await descendants(pid);
  expect(processes.length).toBeGreaterThanOrEqual(3);
  await end();
  await expect.poll(() => seen).toMatchObject({ ended: how });
  // The shell that watches over the engine ends when it notices that no one is left to watch for.
  await expect.poll(() => processes.filter(isAlive)).toEqual([]);
  expect(await runningStacks()).toEqual([]);
}
