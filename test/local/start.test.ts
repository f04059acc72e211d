import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { root } from "../helpers/admin-command.ts";
import { machineHas } from "../helpers/machine.ts";
import { descendants, isAlive } from "../helpers/processes.ts";
import { send } from "../helpers/send.ts";
import { createStarter, startLimit } from "./start-command.ts";

const { directory, stackFile, start, run, ordersFile } = await createStarter();

const building = "Building the service...\n";
const readyLine = { stdout: expect.stringMatching(/^\{.*\}\n$/) };

describe.runIf(machineHas("/proc or ps", "that npm start ends with all it started"))(
  "npm start",
  () => {
    test("ends on a signal before it is ready", async () => {
      const { pid, seen } = start(["--port", "0"]);
      await expect.poll(() => descendants(pid)).not.toEqual([]);
      process.kill(pid, "SIGHUP");
      await expect.poll(() => seen).toEqual({ stdout: "", stderr: building, ended: [0, null] });
    });

    test("prints commands that work in sh, and ends everything it started on Ctrl-C", async () => {
      const orders = await ordersFile("four.ndjson", [
        '{"id":-7}',
        '{"id":9223372036854775807}',
        '{"id":12}',
        '{"id":2,"status":"shipped"}',
      ]);
      const started = start(["--port", "0", "--orders", orders]);
      const { pid, seen } = started;
      const commands = () => seen.stdout.match(/^ {2}curl .*$/gm) ?? [];
      await expect.poll(() => commands().length, startLimit).toBe(4);
      const cancel = commands()[1] ?? "";
      expect(cancel).toMatch(/\/store\/orders\/12$/);
      const statuses: number[] = [];
      const [exported] = seen.stdout.match(/^ {2}export .*$/m) ?? [];
      for (const command of [...commands(), cancel])
        statuses.push(await runCurl(`${exported}; ${command}`));
      expect(statuses).toEqual([200, 204, 404, 409, 409]);

      const engine = await descendants(pid, "dynoxide");
      // A process that SIGSTOP has stopped would outlive the test.
      onTestFinished(() => {
        for (const pid of engine.filter(isAlive)) process.kill(pid, "SIGKILL");
      });
      await expectToEnd(started, async () => {
        // It waits for its engine's end, which SIGSTOP delays.
        for (const pid of engine) process.kill(pid, "SIGSTOP");
        process.kill(-pid, "SIGINT");
        await expect.poll(runningStacks).toEqual([]);
        // npm forwards a signal that the terminal has sent already.
        process.kill(-pid, "SIGINT");
        for (const pid of engine) process.kill(pid, "SIGCONT");
      });
      expect(seen.stderr).not.toContain("exited");
    });

    test("with --db keeps the data of another start, and revokes its key", async () => {
      const database = join(directory, "kept.db");
      const orders = await ordersFile("one order.ndjson", ['{"id":12}']);
      /** Starts on the database and cancels its order 12. */
      const startAndCancel = async () => {
        const { pid, seen } = start([
          "--port",
          "0",
          "--json",
          "--db",
          database,
          "--orders",
          orders,
        ]);
        await vi.waitFor(() => expect(seen).toMatchObject(readyLine), startLimit);
        const { apiKey, ...whereabouts } = JSON.parse(seen.stdout);
        const headers = { authorization: `Bearer ${apiKey}` };
        const url = `${whereabouts.baseUrl}/store/orders/12`;
        const { status } = await send(url, { method: "DELETE", headers });
        return { pid, seen, whereabouts, status };
      };
      const before = await startAndCancel();
      expect(before.status).toBe(204);
      process.kill(before.pid, "SIGINT");
      await vi.waitFor(() => expect(before.seen.ended).toEqual([0, null]), startLimit);
      const again = await startAndCancel();
      expect(again.status).toBe(409);
      expect(again.seen.stderr).toContain(
        `${orders} was not loaded: the tables exist already. To add its orders, run:\n` +
          `  npm run admin -- orders import --local '${orders}'\n`,
      );
      const { dynamodbEndpoint, accessKeyId, tables } = again.whereabouts;
      const client = engineClient(dynamodbEndpoint, accessKeyId);
      onTestFinished(() => client.destroy());
      const { Items = [] } = await client.send(new ScanCommand({ TableName: tables.apiKeys }));
      expect(Items.map(({ revokedAt }) => revokedAt === undefined).sort()).toEqual([false, true]);
    });

    test("run by npm takes the caller's paths and key, says where it is, and ends with npm", async () => {
      await ordersFile("more orders.ndjson", ['{"id":3}']);
      const key = makeApiKey(environments.staging.apiKeyPrefix);
      const options = ["--port", "0", "--json", "--orders", "more orders.ndjson", "--api-key", key];
      const words = ["--prefix", root, "start", "--silent", "--", ...options];
      const npm = run(["npm", ...words], directory);
      await expect.poll(() => npm.seen, startLimit).toMatchObject(readyLine);
      const { apiKey, ...whereabouts } = JSON.parse(npm.seen.stdout);
      expect(apiKey).toBe(key);
      const headers = { authorization: `Bearer ${key}` };
      const list = await send(`${whereabouts.baseUrl}/store/orders`, { headers });
      expect(list).toMatchObject({ status: 200, body: '[{"id":3}]' });
      const names = ["baseUrl", "dynamodbEndpoint", "accessKeyId", "tables"];
      expect(Object.keys(whereabouts)).toEqual(names);
      expect(await runningStacks()).toContainEqual(whereabouts);
      await expectToEnd(npm, () => process.kill(npm.pid, "SIGKILL"), [null, "SIGKILL"]);
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
  // The engine's watchdog ends once it notices that the start has ended.
  await expect.poll(() => processes.filter(isAlive)).toEqual([]);
  expect(await runningStacks()).toEqual([]);
}
