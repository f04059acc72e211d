import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, describe, expect, test, vi } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { descendants, isAlive } from "../helpers/processes.ts";
import { send } from "../helpers/send.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
// As npm names it, without the links on the way.
const directory = await realpath(await mkdtemp(join(tmpdir(), "start-test-")));
const started = new Set<ChildProcess>();
// Not the checkout's own file: a stack may be running there.
const stackFile = join(directory, "stack.json");
afterAll(async () => {
  for (const { pid = 0 } of started) killGroup(pid);
  await rm(directory, { recursive: true });
});

/** The command behind `npm start`, without npm. */
function start(options: string[], environment: Record<string, string> = {}) {
  return run([process.execPath, "infra/local/start.ts", ...options], { cwd: root, environment });
}

function run(
  [command = "", ...args]: string[],
  { cwd, environment }: { cwd: string; environment: Record<string, string> },
) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, LOCAL_STACK_FILE: stackFile, ...environment },
    // A process group of its own, as a terminal's foreground job has.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  return child;
}

async function failure(options: string[], environment?: Record<string, string>) {
  const child = start(options, environment);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { stdout, stderr, code };
}

async function ordersFile(name: string, lines: string[]): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, `${lines.join("\n")}\n`);
  return file;
}

describe("npm start", () => {
  test("exits with the bad lines of the orders file, in the words of an import", async () => {
    const file = await ordersFile("bad.ndjson", ['{"id":1}', '{"id":2,"petId":1.5}']);
    expect(await failure(["--port", "0", "--orders", file])).toEqual({
      stdout: "",
      stderr: `${file}:2: petId is not a 64-bit integer\n1 of 2 lines are bad: nothing was written\n`,
      code: 1,
    });
  });

  test("exits with one line about a port that is taken, and how to choose another", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { stdout, stderr, code } = await failure(["--port", String(port)]);
    server.close();
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toMatch(new RegExp(`^Port ${port} .* --port\n$`));
  });

  test.each([
    ["points into AWS", "https://dynamodb.eu-central-1.amazonaws.com"],
    ["does not respond", "http://127.0.0.1:1"],
    ["is not an address", "nonsense"],
  ])("rejects a DYNAMODB_ENDPOINT that %s, in one line", async (_, endpoint) => {
    const { stdout, stderr, code } = await failure(["--port", "0"], { DYNAMODB_ENDPOINT: endpoint });
    expect({ stdout, code, lines: stderr.trimEnd().split("\n").length }).toEqual({ stdout: "", code: 1, lines: 1 });
  });

  test("exits with one line when nobody can connect to 127.0.0.1", async () => {
    // As without a loopback interface; taking it away needs rights that tests may not have.
    const environment = preload(`import { Socket } from "node:net"; Socket.prototype.connect = function () {
      this.destroy(Object.assign(new Error(), { code: "ENETUNREACH" })); return this; };`);
    expect(await failure(["--port", "0"], environment)).toEqual({
      stdout: "",
      stderr: "127.0.0.1 can't be reached (ENETUNREACH): the loopback interface is missing or down\n",
      code: 1,
    });
  });

  test("says which commands bring the engine where there is none", async () => {
    const environment = preload(`Object.defineProperty(process, "arch", { value: "riscv64" });`);
    const { stdout, stderr, code } = await failure(["--port", "0"], environment);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toMatch(
      /lacks\n- a DynamoDB engine, which one of these brings:\n(?: {4}.*\n){2} {2}.* npm start\n$/,
    );
  });

  test.each([
    ["of production", makeApiKey("pets_live")],
    ["mistyped", `${makeApiKey("pets_test").slice(0, -1)}-`],
    ["incomplete", "pets_test_"],
  ])("rejects an --api-key that is %s, in one line without it", async (_, key) => {
    const { stdout, stderr, code } = await failure(["--api-key", key]);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toMatch(/^error: option '--api-key <key>'.* Not a well-formed key that starts with pets_test_\.\n$/);
    if (key.length > 10) expect(stderr).not.toContain(key.slice(10, 50));
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("ends at once on a %s before it is ready", async (signal) => {
    const child = start(["--port", "0"]);
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    await vi.waitFor(async () => expect(await descendants(child.pid ?? 0)).not.toEqual([]), { timeout: 60_000 });
    const exit = once(child, "exit");
    child.kill(signal);
    expect([await exit, await output]).toEqual([
      [0, null],
      ["", ""],
    ]);
  });

  test.each(["--db", "--orders"])("rejects %s without a name, in one line", async (option) => {
    expect(await failure(["--port", "0", option, ""])).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: option '${option} <file>' argument '' is invalid. The name of a file is missing.\n`,
    });
  });

  test("rejects --db beside DYNAMODB_ENDPOINT, in one line", async () => {
    expect(await failure(["--db", "orders.db"], { DYNAMODB_ENDPOINT: "http://127.0.0.1:1" })).toEqual({
      stdout: "",
      stderr: "--db is for the embedded engine, but DYNAMODB_ENDPOINT names another: use one of the two\n",
      code: 1,
    });
  });

  const database = join(directory, "orders.db");

  test("prints commands that do what they say when pasted into sh, and ends everything it started on Ctrl-C", async () => {
    const lines = ['{"id":-7}', '{"id":9223372036854775807}', '{"id":12}', '{"id":2,"status":"shipped"}'];
    const child = start(["--port", "0", "--orders", await ordersFile("four.ndjson", lines), "--db", database]);
    const stderr = text(child.stderr);
    const commands = await printedCommands(child);
    expect(commands[1]).toMatch(/\/store\/orders\/12$/);
    const statuses: number[] = [];
    for (const command of commands) statuses.push(await runCurl(command));
    expect(statuses).toEqual([200, 204, 404, 409]);
    expect(await runCurl(commands[1] ?? "")).toBe(409);
    await expectToEnd(child, () => process.kill(-(child.pid ?? 0), "SIGINT"));
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

/** The environment that has node run some lines first. */
function preload(code: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

async function printedCommands({ stdout }: ReturnType<typeof start>): Promise<string[]> {
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
  const { values, positionals } = parseArgs({
    args: stdout.trimEnd().split("\n"),
    options: {
      include: { type: "boolean", short: "i" },
      header: { type: "string", short: "H" },
      request: { type: "string", short: "X", default: "GET" },
    },
    allowPositionals: true,
  });
  const [name = "", value = ""] = values.header?.split(": ") ?? [];
  return (await send(positionals[0] ?? "", { method: values.request, headers: { [name]: value } })).status;
}

async function expectToEnd(
  child: ChildProcess,
  end: () => unknown,
  how: [number | null, NodeJS.Signals | null] = [0, null],
): Promise<void> {
  const processes = await descendants(child.pid ?? 0);
  expect(processes.length).toBeGreaterThanOrEqual(3);
  const exit = once(child, "exit");
  end();
  expect(await exit).toEqual(how);
  // The shell that watches over the engine ends when it notices that no one is left to watch for.
  await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), { timeout: 60_000 });
  await expect(readFile(stackFile)).rejects.toThrow("ENOENT");
}
