import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, test, vi } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { root } from "../helpers/admin/admin-command.ts";
import { machineHas } from "../helpers/machine.ts";
import { descendants, isAlive, processesRunning } from "../helpers/processes.ts";
import { send } from "../helpers/send.ts";
import { createStarter } from "../helpers/start-command.ts";

const { directory, stackFile, start, run, ordersFile } = await createStarter();

describe.runIf(machineHas("/proc or ps", "that npm start ends with all it started"))("npm start", () => {
  test("ends at once on a signal before it is ready", async () => {
    const child = start(["--port", "0"]);
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    await vi.waitFor(async () => expect(await descendants(child.pid ?? 0)).not.toEqual([]), { timeout: 60_000 });
    const exit = once(child, "exit");
    child.kill("SIGHUP");
    expect([await exit, await output]).toEqual([
      [0, null],
      ["", ""],
    ]);
  });

  const database = join(directory, "orders.db");

  test("prints commands that do what they say when pasted into sh, and ends everything it started on Ctrl-C", async () => {
    const lines = ['{"id":-7}', '{"id":9223372036854775807}', '{"id":12}', '{"id":2,"status":"shipped"}'];
    const child = start(["--port", "0", "--orders", await ordersFile("four.ndjson", lines), "--db", database]);
    const stderr = text(child.stderr);
    const commands = await printedCommands(child);
    if (commands.length < 4) expect(await stderr, "standard error instead of commands").toBe("");
    expect(commands[1]).toMatch(/\/store\/orders\/12$/);
    const statuses: number[] = [];
    for (const command of commands) statuses.push(await runCurl(command));
    expect(statuses).toEqual([200, 204, 404, 409]);
    expect(await runCurl(commands[1] ?? "")).toBe(409);
    const { pid = 0 } = child;
    const engine = await processesRunning("dynoxide", pid);
    await expectToEnd(child, async () => {
      // Its end waits for that of its engine.
      for (const pid of engine) process.kill(pid, "SIGSTOP");
      process.kill(-pid, "SIGINT");
      await vi.waitFor(() => expect(existsSync(stackFile)).toBe(false), { timeout: 60_000 });
      // npm forwards a signal that the terminal has sent already.
      process.kill(-pid, "SIGINT");
      for (const pid of engine) process.kill(pid, "SIGCONT");
    });
    expect(await stderr).not.toContain("exited");
  });

  test("run by npm, uses the caller's paths, keeps its data, and ends when npm is killed", async () => {
    await ordersFile("more orders.ndjson", ['{"id":3}']);
    const key = makeApiKey("pets_test");
    const options = ["--port", "0", "--json", "--db", "orders.db", "--orders", "more orders.ndjson", "--api-key", key];
    const npm = run(["npm", "--prefix", root, "start", "--silent", "--", ...options], {
      cwd: directory,
      environment: {},
    });
    const stderr = text(npm.stderr);
    const [line] = await once(createInterface({ input: npm.stdout }), "line");
    const { apiKey, ...whereabouts } = JSON.parse(line);
    expect(apiKey).toBe(key);
    expect(Object.keys(whereabouts)).toEqual(["baseUrl", "dynamodbEndpoint", "tables"]);
    expect(JSON.parse(await readFile(stackFile, "utf8"))).toEqual([whereabouts]);
    const headers = { authorization: `Bearer ${apiKey}` };
    const url = `${whereabouts.baseUrl}/store/orders/12`;
    expect((await send(url, { method: "DELETE", headers })).status).toBe(409);
    const client = engineClient(whereabouts.dynamodbEndpoint);
    const { Count } = await client.send(new ScanCommand({ TableName: whereabouts.tables.apiKeys }));
    client.destroy();
    // The key of the start before is gone.
    expect(Count).toBe(1);
    await expectToEnd(npm, () => npm.kill("SIGKILL"), [null, "SIGKILL"]);
    expect((await stderr).split("\n").filter((line) => line.includes("more orders"))).toEqual([
      `${directory}/more orders.ndjson was not loaded: the tables exist already. To add its orders, run:`,
      `  npm run admin -- orders import --local '${directory}/more orders.ndjson'`,
    ]);
  });
});

async function printedCommands({ stdout }: { stdout: Readable }): Promise<string[]> {
  const commands: string[] = [];
  for await (const line of createInterface({ input: stdout })) {
    if (line.startsWith("  curl ")) commands.push(line);
    if (commands.length === 4) break;
  }
  return commands;
}

/** The status of the request that curl would send if the command were pasted into sh. */
async function runCurl(command: string): Promise<number> {
  const { stdout } = await promisify(execFile)("sh", ["-c", `curl() { printf '%s\\n' "$@"; }; ${command}`]);
  const [, , header = "", ...rest] = stdout.trimEnd().split("\n");
  const [name = "", value = ""] = header.split(": ");
  const [url = "", method = "GET"] = rest.reverse();
  return (await send(url, { method, headers: { [name]: value } })).status;
}

async function expectToEnd(
  child: ChildProcess,
  end: () => unknown,
  how: [number | null, NodeJS.Signals | null] = [0, null],
): Promise<void> {
  const processes = await descendants(child.pid ?? 0);
  expect(processes.length).toBeGreaterThanOrEqual(3);
  const exit = once(child, "exit");
  await end();
  expect(await exit).toEqual(how);
  // The shell that watches over the engine ends when it notices that no one is left to watch for.
  await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), { timeout: 60_000 });
  await expect(readFile(stackFile)).rejects.toThrow("ENOENT");
}
