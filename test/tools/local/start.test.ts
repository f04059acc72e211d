import { execFile } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { root } from "../../helpers/admin-command.ts";
import { machineHas } from "../../helpers/machine.ts";
import { descendants, isAlive } from "../../helpers/processes.ts";
import { send } from "../../helpers/send.ts";
import { createStarter, prebuilt, startLimit } from "./start-command.ts";

const { directory, stacks, start, run } = await createStarter();

const building = "Building the service...\n";

const runningStacks = () => readdir(stacks);

/** The status of the request that curl would send if the commands were pasted into sh. */
async function runCurl(commands: string): Promise<number> {
  const printArguments = `curl() { printf '%s\\n' "$@"; }; ${commands}`;
  const { stdout } = await promisify(execFile)("sh", ["-c", printArguments]);
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

function killAtEnd(pids: number[]) {
  onTestFinished(() => {
    for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL");
  });
}

const hasList = machineHas("/proc or ps", "that npm start ends with all it started");
describe.runIf(hasList)("npm start", () => {
  test("fails on a signal before it is ready, and says so", async () => {
    const { pid, seen } = start(["--port", "0"]);
    await expect.poll(() => seen.stderr, startLimit).toBe(building);
    process.kill(pid, "SIGHUP");
    const stderr = `${building}Stopped before the service was ready\n`;
    await expect.poll(() => seen).toEqual({ stdout: "", stderr, ended: [1, null] });
  });

  test("serves until Ctrl-C, and by npm once more, with the data of --db and another key", async () => {
    const orders = join(directory, "four orders.ndjson");
    const lines = ['{"id":-7}', '{"id":9223372036854775807}', '{"id":12}'];
    await writeFile(orders, [...lines, '{"id":2,"status":"shipped"}', ""].join("\n"));
    const db = join(directory, "kept.db");
    const options = ["--port", "0", "--orders", orders, "--db", db];
    const trying = ["--inspect", "--throttle", "6"];
    const first = start([...options, ...trying], await prebuilt());
    const printed = (command: RegExp) => first.seen.stdout.match(command) ?? [];
    await expect.poll(() => printed(/^ {2}curl .*$/gm).length, startLimit).toBe(4);
    // Before the first request.
    await expect
      .poll(() => first.seen.stderr.match(/\w+(?=: a debugger)/g)?.sort())
      .toEqual(["Authorize", "CancelOrder", "ListOrders"]);
    expect(first.seen.stdout).toMatch(
      /after (?!0\.0)\d?\d\.\d s.*One of 6 requests gets 429/s,
    );
    const [exported = ""] = printed(/^ {2}export .*$/m);
    const [list = "", cancel = "", ...others] = printed(/^ {2}curl .*$/gm);
    expect(cancel).toMatch(/\/store\/orders\/12$/);
    const statuses: number[] = [];
    for (const command of [list, cancel, ...others, cancel, cancel])
      statuses.push(await runCurl(`${exported}; ${command}`));
    expect(statuses).toEqual([200, 204, 404, 409, 409, 429]);

    expect((await stat(db)).mode & 0o777).toBe(0o600);
    const engine = await descendants(first.pid, "dynoxide");
    // A process that SIGSTOP has stopped would outlive the test.
    killAtEnd(engine);
    await expectToEnd(first, async () => {
      // It waits for its engine's end, which SIGSTOP delays.
      for (const pid of engine) process.kill(pid, "SIGSTOP");
      process.kill(-first.pid, "SIGINT");
      await expect.poll(runningStacks).toEqual([]);
      // npm forwards a signal that the terminal has sent already.
      for (const signal of ["SIGINT", "SIGTERM"]) process.kill(-first.pid, signal);
      for (const pid of engine) process.kill(pid, "SIGCONT");
    });
    expect(first.seen.stderr).not.toMatch(/exited|not loaded/);

    const key = makeApiKey(environments.staging.apiKeyPrefix);
    const files = ["--orders", "four orders.ndjson", "--db", "kept.db"];
    const command = ["npm", "--prefix", root, "start", "--silent", "--", "--port", "0"];
    const words = [...command, "--json", "--api-key", key, ...files];
    const npm = run(words, directory, await prebuilt());
    const stdout = expect.stringMatching(/^\{.*\}\n$/);
    const stderr =
      `${building}${orders} was not loaded: the tables exist already. To add its orders, run:\n` +
      `  infra/petstore orders import --local '${orders}'\n`;
    await expect.poll(() => npm.seen, startLimit).toEqual({ stdout, stderr });
    const { apiKey, ...connection } = JSON.parse(npm.seen.stdout);
    expect(apiKey).toBe(key);
    const text = expect.any(String);
    const tables = { orders: text, apiKeys: text };
    const reached = { baseUrl: text, dynamodbEndpoint: text, accessKeyId: "local" };
    expect(connection).toEqual({ ...reached, tables });
    const [file = ""] = await runningStacks();
    const recorded = JSON.parse(await readFile(join(stacks, file), "utf8"));
    expect(recorded).toEqual({
      ...connection,
      startedAt: expect.closeTo(Date.now(), -7),
    });
    const [, earlierKey] = exported.split("=");
    const again = [key, earlierKey].map(async (key) => {
      const headers = { authorization: `Bearer ${key}` };
      const url = `${connection.baseUrl}/store/orders/12`;
      return (await send(url, { method: "DELETE", headers })).status;
    });
    expect(await Promise.all(again)).toEqual([409, 401]);
    await expectToEnd(npm, () => process.kill(npm.pid, "SIGKILL"), [null, "SIGKILL"]);
  });

  test("that is killed leaves neither its engine nor a function, even a busy one", async () => {
    const program = `
      import { startEngine } from "${root}/infra/tools/local/engine/engine.ts";
      import { createLambdaHost } from "${root}/infra/tools/local/lambda/lambda-host.ts";
      import { petFunctions } from "${import.meta.dirname}/pets.ts";
      await startEngine();
      const log = () => console.log("busy");
      const { invoke } = createLambdaHost(petFunctions({ echo: {}, hang: {} }), { log });
      await invoke("echo", {});
      invoke("hang", {});`;
    const command = [process.execPath, "--input-type=module", "--eval", program];
    const child = run(command, root);
    await expect.poll(() => child.seen.stdout, startLimit).toBe("busy\n");
    // The engine, its watchdog and two functions.
    await expect.poll(() => descendants(child.pid)).toHaveLength(4);
    const processes = await descendants(child.pid);
    killAtEnd(processes);
    process.kill(child.pid, "SIGKILL");
    await expect.poll(() => processes.filter(isAlive)).toEqual([]);
  });
});
