import { access, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { Server } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { startOptions } from "../../infra/local/start-options.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { root } from "../helpers/admin-command.ts";
import { endOf } from "../helpers/end-of-options.ts";
import { descendants } from "../helpers/processes.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { petResources, petTemplate } from "./pets.ts";
import { createStarter, startLimit, startScript } from "./start-command.ts";

const { directory, run, stackFile, start } = await createStarter();

// On a full disk the engine responds like this.
const full = createServer((_, response) => {
  const __type = "com.amazonaws.dynamodb.v20120810#InternalServerError";
  const headers = { "content-type": "application/x-amz-json-1.0", connection: "close" };
  const message = "backend: database or disk is full";
  response.writeHead(500, headers).end(JSON.stringify({ __type, message }));
});
const port = await listeningPort(full);
afterAll(() => full.close());

describe("npm start exits with a line on", () => {
  const riscv = 'Object.defineProperty(process, "arch", { value: "riscv64" });';
  const noEngine = `--import=data:text/javascript,${encodeURIComponent(riscv)}`;
  const nowhere = { DYNAMODB_ENDPOINT: "http://127.0.0.1:1" };
  const building = "Building the service...\n";
  const provided =
    /lacks\n- a DynamoDB engine\. Any of these commands provides one:\n(?: {4}.*\n){2} {2}.* npm start\n$/;
  test.each<[string, string[], Record<string, string>, unknown]>([
    [
      "a taken port",
      ["--port", `${port}`],
      {},
      `${building}Port ${port} on localhost is taken or not allowed; choose another with --port\n`,
    ],
    [
      "no engine",
      ["--port", "0"],
      { NODE_OPTIONS: noEngine },
      expect.stringMatching(provided),
    ],
    [
      "--db beside DYNAMODB_ENDPOINT",
      ["--db", "orders.db"],
      nowhere,
      "--db is for the embedded engine, but DYNAMODB_ENDPOINT names another: use one of the two\n",
    ],
    [
      "an engine that does not respond",
      ["--port", "0"],
      nowhere,
      `${building}The DynamoDB engine at http://127.0.0.1:1 failed: connect ECONNREFUSED 127.0.0.1:1\n`,
    ],
  ])("%s", async (_, options, environment, stderr) => {
    const { seen } = start(options, environment);
    await expect
      .poll(() => seen, startLimit)
      .toEqual({ stdout: "", stderr, ended: [1, null] });
  });

  test("a full device for its output, and leaves nothing behind", async () => {
    const TMPDIR = await mkdtemp(join(directory, "tmp-"));
    const toFull = [
      "bash",
      "-c",
      'exec "$0" "$@" > /dev/full',
      process.execPath,
      ...startScript,
    ];
    const { seen } = run([...toFull, "--port", "0"], root, { TMPDIR });
    await expect
      .poll(() => seen, startLimit)
      .toEqual({
        stdout: "",
        stderr: `${building}Standard output can't be written: no space left on device\n`,
        ended: [1, null],
      });
    expect(await readdir(TMPDIR)).toEqual([]);
    expect(await readFile(stackFile, "utf8")).toBe("[]\n");
  });

  test("a value that is invalid, with code 2; keys are cut short", () => {
    const { apiKeyPrefix } = environments.staging;
    const ends = [
      ["--port", "65536"],
      ["--throttle", "0"],
      ["--db", ""],
      ["--api-key", makeApiKey("pets_another")],
      ["--api-key", `${makeApiKey(apiKeyPrefix).slice(0, -1)}-`],
    ].map((options) => Object.values(endOf(startOptions, options)).join(" "));
    expect(ends.join("").replaceAll(apiKeyPrefix, "PREFIX")).toMatchInlineSnapshot(`
      "2  error: option '--port <number>' argument '65536' is invalid. Must be a whole number from 0 to 65535.
      2  error: option '--throttle <n>' argument '0' is invalid. Must be a whole number from 1 to 65535.
      2  error: option '--db <file>' argument '' is invalid. The name of a file is missing.
      2  error: option '--api-key <key>' argument 'pets_another_...' is invalid. Not a well-formed key that starts with PREFIX_.
      2  error: option '--api-key <key>' argument 'PREFIX_...-' is invalid. Not a well-formed key that starts with PREFIX_.
      "
    `);
  });
});

describe("a start fails", () => {
  test("with the bad lines of the orders file, as an import does", async () => {
    const orders = join(directory, "bad.ndjson");
    await writeFile(orders, '{"id":1}\n{"id":2,"petId":1.5}\n');
    await expect(startLocalStack(readAssembly, { port: 0, orders })).rejects.toMatchObject({
      name: "CommandError",
      message: `${orders}:2: petId is not a 64-bit integer\n1 of 2 lines is bad: nothing was written`,
    });
  });

  test("with one line when the engine's disk is full", async () => {
    const dynamodbEndpoint = `http://127.0.0.1:${port}`;
    const start = startLocalStack(readAssembly, { port: 0, dynamodbEndpoint });
    const message = `The DynamoDB engine at ${dynamodbEndpoint} failed: backend: database or disk is full`;
    await expect(start).rejects.toMatchObject({ name: "CommandError", message });
  });

  test("on what the local stack does not support, be it of a table", async () => {
    const { Orders, ...others } = petResources({});
    const Properties = { ...Orders?.Properties, GlobalSecondaryIndexes: [] };
    const template = petTemplate({ ...others, Orders: { ...Orders, Properties } });
    const build = async () => ({ template, directory: "nowhere" });
    await expect(startLocalStack(build, { port: 0 })).rejects.toThrow(
      "The local stack does not support GlobalSecondaryIndexes of AWS::DynamoDB::Table Orders",
    );
  });

  test("on port 3000 unless another is given", async () => {
    const listening = vi.spyOn(Server.prototype, "listen");
    listening.mockImplementation(function (this: Server) {
      const taken = Object.assign(new Error("taken"), { code: "EADDRINUSE" });
      queueMicrotask(() => this.emit("error", taken));
      return this;
    });
    onTestFinished(() => listening.mockRestore());
    await expect(startLocalStack(readAssembly)).rejects.toThrow(
      "Port 3000 on localhost is taken",
    );
  });

  test("without leaving behind an engine that was starting", async () => {
    const db = join(directory, "orders.db");
    const failing = () => Promise.reject(new Error("no build"));
    await expect(startLocalStack(failing, { port: 0, db })).rejects.toThrow("no build");
    // The engine made it, so it has started.
    await expect.poll(() => access(db).then(() => true)).toBe(true);
    expect(await descendants(process.pid, db)).toEqual([]);
  });
});
