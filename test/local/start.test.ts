import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test, vi } from "vitest";
import { send } from "../helpers/answer.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const directory = await mkdtemp(join(tmpdir(), "start-test-"));
const started = new Set<ChildProcess>();
// Not the checkout's own: a stack may be running there.
const stackFile = join(directory, "stack.json");
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await rm(directory, { recursive: true });
});

/** The command behind `npm start`, without npm. */
function start(options: string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["infra/local/start.ts", ...options], {
    cwd: root,
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

/** The processes that have this one for an ancestor, by the parents that /proc tells. */
async function descendants(pid: number): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    const stat = await readFile(`/proc/${entry}/stat`, "utf8").catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    if (parent === pid) found.push(Number(entry), ...(await descendants(Number(entry))));
  }
  return found;
}

describe("npm start", () => {
  test("says in one line what is wrong with a line of the orders file, and ends", async () => {
    const file = await ordersFile("bad.ndjson", ['{"id":1}', '{"id":2,"petId":1.5}']);
    expect(await failure(["--port", "0", "--orders", file])).toEqual({
      stdout: "",
      stderr: `${file}, line 2: petId is not a 64-bit integer\n`,
      code: 1,
    });
  });

  test("names a port that is taken, and how to choose another", async () => {
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
    ["does not answer", "http://127.0.0.1:1"],
    ["is no address", "nonsense"],
  ])("refuses a DYNAMODB_ENDPOINT that %s, in one line", async (_, endpoint) => {
    const { stdout, stderr, code } = await failure(["--port", "0"], { DYNAMODB_ENDPOINT: endpoint });
    expect({ stdout, code, lines: stderr.trimEnd().split("\n").length }).toEqual({ stdout: "", code: 1, lines: 1 });
  });

  // Each of these two synthesises the stack.
  const patience = { timeout: 60_000 };
  const database = join(directory, "orders.db");

  test("prints curl lines that do what they say, and ends by Ctrl-C with all that it started", patience, async () => {
    const lines = ['{"id":9223372036854775807}', '{"id":2,"status":"shipped"}'];
    const child = start(["--port", "0", "--orders", await ordersFile("two.ndjson", lines), "--db", database]);
    const stderr = text(child.stderr);
    const commands = await printedCommands(child);
    const statuses: number[] = [];
    for (const command of commands) statuses.push(await runCurl(command));
    expect(statuses).toEqual([200, 204, 404, 409]);
    expect(await runCurl(commands[1] ?? "")).toBe(409);
    await expectToEnd(child, () => process.kill(-(child.pid ?? 0), "SIGINT"));
    expect(await stderr).not.toContain("exited");
  });

  test("says where it is in one line of JSON, with the data it kept, and ends by SIGTERM too", patience, async () => {
    const child = start(["--port", "0", "--json", "--db", database]);
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const { apiKey, ...whereabouts } = JSON.parse(line);
    expect(Object.keys(whereabouts)).toEqual(["baseUrl", "dynamodbEndpoint", "tables"]);
    expect(JSON.parse(await readFile(stackFile, "utf8"))).toEqual(whereabouts);
    const headers = { authorization: `Bearer ${apiKey}` };
    const url = `${whereabouts.baseUrl}/store/orders/9223372036854775807`;
    expect((await send(url, { method: "DELETE", headers })).status).toBe(409);
    await expectToEnd(child, () => child.kill("SIGTERM"));
  });
});

async function printedCommands({ stdout }: ReturnType<typeof start>): Promise<string[]> {
  const commands: string[] = [];
  for await (const line of createInterface({ input: stdout })) {
    if (line.startsWith("  curl ")) commands.push(line);
    if (commands.length === 4) break;
  }
  return commands;
}

/** The status that the request of a printed curl line gets. */
async function runCurl(command: string): Promise<number> {
  const [, method = "GET"] = / -X (\w+)/.exec(command) ?? [];
  const [, authorization = ""] = /-H "Authorization: ([^"]*)"/.exec(command) ?? [];
  const [, url = ""] = / (http:\S+)$/.exec(command) ?? [];
  return (await send(url, { method, headers: { authorization } })).status;
}

async function expectToEnd(child: ChildProcess, end: () => unknown): Promise<void> {
  const processes = await descendants(child.pid ?? 0);
  expect(processes.length).toBeGreaterThanOrEqual(3);
  const exit = once(child, "exit");
  end();
  expect(await exit).toEqual([0, null]);
  await expect(readFile(stackFile)).rejects.toThrow("ENOENT");
  // The shell that watches over the engine ends when it notices that it has nobody to watch for.
  await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), { timeout: 60_000 });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
