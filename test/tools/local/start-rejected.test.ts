import { mkdtemp, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { lockDatabase } from "../../../infra/tools/local/engine/database-lock.ts";
import { startLocalStack } from "../../../infra/tools/local/local-stack.ts";
import { listenOn } from "../../../infra/tools/local/machine/ports.ts";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { root } from "../../helpers/admin-command.ts";
import { readAssembly } from "../../helpers/read-assembly.ts";
import { run as runHere } from "../run.ts";
import { createStarter, prebuilt, startLimit, startScript } from "./start-command.ts";

const { directory, run, stacks, start } = await createStarter();

// On a full disk the engine responds like this.
const full = createServer((_, response) => {
  const __type = "com.amazonaws.dynamodb.v20120810#InternalServerError";
  const headers = { "x-amzn-requestid": "A1", connection: "close" };
  const message = "backend: database or disk is full";
  response.writeHead(500, headers).end(JSON.stringify({ __type, message }));
});
const port = await listenOn(full);
afterAll(() => void full.close());
const taken = (port: number) =>
  `Port ${port} on localhost is taken or not allowed; choose another with --port`;
const building = "Building the service...\n";

describe("npm start exits with a line on", () => {
  const nowhere = "http://127.0.0.1:1";
  test.each([
    [
      "--db beside DYNAMODB_ENDPOINT",
      "--db orders.db",
      stacks,
      "--db is for the embedded engine, but DYNAMODB_ENDPOINT names another: use one of the two",
    ],
    [
      "a folder of running stacks that can't be written",
      "",
      "/dev/null/stacks",
      "/dev/null/stacks can't be written: ENOTDIR: not a directory, mkdir " +
        "'/dev/null/stacks'. Set LOCAL_STACKS to another folder",
    ],
    [
      "an engine that does not respond",
      "",
      stacks,
      `No DynamoDB engine responds at DYNAMODB_ENDPOINT, ${nowhere}`,
    ],
  ])("%s", async (_, options, folder, line) => {
    vi.stubEnv("LOCAL_STACKS", folder);
    vi.stubEnv("DYNAMODB_ENDPOINT", nowhere);
    const ended = { code: 1, stdout: "", stderr: `${line}\n` };
    expect(await runHere(`start --port 0 ${options}`)).toEqual(ended);
  });

  const expectFailure = (seen: ReturnType<typeof run>["seen"], stderr: string) =>
    expect.poll(() => seen, startLimit).toEqual({ stdout: "", stderr, ended: [1, null] });

  test("no engine", async () => {
    const riscv = 'Object.defineProperty(process, "arch", { value: "riscv64" });';
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(riscv)}`;
    const { seen } = start(["--port", "0"], { NODE_OPTIONS });
    await expectFailure(
      seen,
      "npm has no DynamoDB engine for this machine (linux-riscv64): start one and set " +
        "DYNAMODB_ENDPOINT (infra/tools/local/README.md)\n",
    );
  });

  test("a full device for its output, and leaves nothing behind", async () => {
    const TMPDIR = await mkdtemp(join(directory, "tmp-"));
    const script = 'exec "$0" "$@" > /dev/full';
    const command = ["bash", "-c", script, process.execPath, ...startScript];
    const environment = { ...(await prebuilt()), TMPDIR };
    const { seen } = run([...command, "--port", "0"], root, environment);
    const stderr = `${building}Standard output can't be written: no space left on device\n`;
    await expectFailure(seen, stderr);
    expect(await readdir(TMPDIR)).toEqual([]);
    expect(await readdir(stacks)).toEqual([]);
  });

  test("a value that is invalid, with code 2; keys are cut short", async () => {
    const { apiKeyPrefix } = environments.staging;
    // A start that takes the value fails, too, instead of going on for ever.
    vi.stubEnv("DYNAMODB_ENDPOINT", nowhere);
    let ends = "";
    for (const words of [
      "--port 65536",
      "--throttle 0",
      "--unavailable 0",
      "--cut 0",
      "--db ''",
      "--orders ''",
      `--api-key ${makeApiKey(`${apiKeyPrefix}2`)}`,
      `--api-key ${makeApiKey(apiKeyPrefix).slice(0, -1)}-`,
    ])
      ends += Object.values(await runHere(`start ${words}`)).join(" ");
    const seen = ends.replaceAll("\n(see --help)", "").replaceAll(apiKeyPrefix, "PREFIX");
    expect(seen).toMatchInlineSnapshot(`
      "2  error: option '--port <number>' argument '65536' is invalid. Must be a whole number from 0 to 65535.
      2  error: option '--throttle <n>' argument '0' is invalid. Must be a whole number from 1 to 65535.
      2  error: option '--unavailable <n>' argument '0' is invalid. Must be a whole number from 1 to 65535.
      2  error: option '--cut <n>' argument '0' is invalid. Must be a whole number from 1 to 65535.
      2  error: option '--db <file>' argument '' is invalid. Must not be empty.
      2  error: option '--orders <file>' argument '' is invalid. Must not be empty.
      2  error: option '--api-key <key>' argument 'PREFIX2_...' is invalid. Not a well-formed key that starts with PREFIX_.
      2  error: option '--api-key <key>' argument 'PREFIX_...-' is invalid. Not a well-formed key that starts with PREFIX_.
      "
    `);
  });
});

test("the help of npm start has each option with what it does", async () => {
  const { stdout } = await runHere("start --help");
  expect(stdout).toMatchInlineSnapshot(`
    "Usage: petstore start [options]

    run the service

    Options:
      --port <number>    the port on localhost; 0 picks a free one (default: 3000)
      --orders <file>    orders for new tables: NDJSON, one order per line with its
                         status (default: a small sample)
      --db <file>        keep the data in this file; beside it, an empty file-lock
                         stays (default: in memory)
      --api-key <key>    a key to accept, like one printed by an earlier start
                         (default: a new one)
      --watch            rebuild when the sources change
      --throttle <n>     respond to every nth request with 429, to try a client's
                         retries
      --unavailable <n>  respond to every nth list or cancellation with 503,
                         likewise
      --cut <n>          cut every nth list off midway, likewise
      --inspect          open a debugger port for each function, and suspend its
                         timeout
      --json             print one line of JSON when ready, for scripts
      -h, --help         display help for command

    Global Options:
      -V, --version      output the version number

    DYNAMODB_ENDPOINT names a DynamoDB engine to use instead of the embedded one, like http://localhost:8000.
    "
  `);
});

const bad = join(directory, "bad.ndjson");
await writeFile(bad, '{"id":1}\n{"id":2,"petId":1.5}\n');
const diskFull = { port: 0, dynamodbEndpoint: `http://127.0.0.1:${port}` };
const inUse = join(directory, "in-use.db");
const release = await lockDatabase(inUse);
afterAll(release);
const unbuilt = () => Promise.reject(new Error("The build came first"));
test.each([
  [
    "a bad line of the orders file, as an import does",
    { port: 0, orders: bad },
    `${bad}:2: petId is not a 64-bit integer\n1 of 2 lines is bad: nothing was written`,
  ],
  [
    "the engine's full disk",
    diskFull,
    `The DynamoDB engine at ${diskFull.dynamodbEndpoint} failed: backend: database or disk is full`,
  ],
  [
    "a database in use",
    { port: 0, db: inUse },
    `${inUse} is in use by another stack. Stop that, or choose another file`,
  ],
  ["a taken port", { port }, taken(port)],
])("a start fails with lines about %s", async (_, options, message) => {
  await using running = new AsyncDisposableStack();
  const build = options === diskFull ? readAssembly : unbuilt;
  const start = startLocalStack(running, build, options);
  await expect(start).rejects.toMatchObject({ name: "CommandError", message });
});

test("a start with no other port given takes 3000", async () => {
  await using running = new AsyncDisposableStack();
  const outcome = await startLocalStack(running, readAssembly).then(
    ({ baseUrl }) => baseUrl,
    ({ message }: Error) => message,
  );
  // Another program may have it.
  expect(["http://localhost:3000/v1", taken(3000)]).toContain(outcome);
});
