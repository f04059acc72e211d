import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { Server } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { startOptions } from "../../infra/local/start-options.ts";
import { StackTemplate } from "../../infra/template/stack-template.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { endOf } from "../helpers/end-of-options.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { createStarter, startLimit } from "./start-command.ts";

const { start, ordersFile } = await createStarter();

/** Starts, and gives the text of standard error, which is all that a failed start writes. */
async function failure(options: string[], environment?: Record<string, string>): Promise<string> {
  const { seen } = start(options, environment);
  await expect.poll(() => seen, startLimit).toMatchObject({ stdout: "", ended: [1, null] });
  return seen.stderr;
}

describe("npm start", () => {
  test("exits with the bad lines of the orders file, in the words of an import", async () => {
    const file = await ordersFile("bad.ndjson", ['{"id":1}', '{"id":2,"petId":1.5}']);
    expect(await failure(["--port", "0", "--orders", file])).toBe(
      `${file}:2: petId is not a 64-bit integer\n1 of 2 lines is bad: nothing was written\n`,
    );
  });

  test("exits with one line that says how to choose another port when one is taken", async () => {
    await using server = createServer();
    const port = await listeningPort(server);
    expect(await failure(["--port", `${port}`])).toMatch(new RegExp(`^Port ${port} .* --port\n$`));
  });

  /** The environment that has node run some code first. */
  const preload = (code: string) => ({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
  });

  test("shows a syntax error in a source without the calls that led there", async () => {
    const stderr = await failure(
      [],
      preload(`import { registerHooks } from "node:module"; registerHooks({ load: (url, context, next) =>
        ({ ...next(url, context), ...url.endsWith("errors.ts") && { source: "const = nothing;" } }) });`),
    );
    expect(stderr).toMatch(/shared\/errors\.ts:1\nconst = nothing;\n +\^\n\nSyntaxError .*\n$/);
  });

  test("says which commands bring the engine where there is none", async () => {
    const noEngine = preload(`Object.defineProperty(process, "arch", { value: "riscv64" });`);
    expect(await failure(["--port", "0"], noEngine)).toMatch(
      /lacks\n- a DynamoDB engine, which one of these brings:\n(?: {4}.*\n){2} {2}.* npm start\n$/,
    );
  });

  const { apiKeyPrefix } = environments.staging;
  const badKey = `is invalid. Not a well-formed key that starts with ${apiKeyPrefix}_.`;
  test.each([
    [
      "--port <number>' argument '65536' is invalid. It must be a whole number from 0 to 65535.",
      "--port",
      "65536",
    ],
    [
      "--throttle <n>' argument '0' is invalid. It must be a whole number from 1 to 65535.",
      "--throttle",
      "0",
    ],
    ["--db <file>' argument '' is invalid. The name of a file is missing.", "--db", ""],
    [
      `--api-key <key>' argument 'pets_another_...' ${badKey}`,
      "--api-key",
      makeApiKey("pets_another"),
    ],
    [
      `--api-key <key>' argument '${apiKeyPrefix}_...-' ${badKey}`,
      "--api-key",
      `${makeApiKey(apiKeyPrefix).slice(0, -1)}-`,
    ],
  ])("rejects a value in one line, without a key: '%s", (complaint, ...options) => {
    expect(endOf(startOptions, options)).toEqual({
      code: 1,
      stdout: "",
      stderr: `error: option '${complaint}\n`,
    });
  });

  const environment = { DYNAMODB_ENDPOINT: "http://127.0.0.1:1" };

  test("rejects --db beside DYNAMODB_ENDPOINT in one line", async () => {
    expect(await failure(["--db", "orders.db"], environment)).toBe(
      "--db is for the embedded engine, but DYNAMODB_ENDPOINT names another: use one of the two\n",
    );
  });

  test("rejects a DYNAMODB_ENDPOINT that does not respond in one line", async () => {
    expect(await failure(["--port", "0"], environment)).toBe(
      "No DynamoDB engine answers at DYNAMODB_ENDPOINT, 127.0.0.1:1\n",
    );
  });

  test.each([
    ["--api-key pets_test_...", [], { api_key: makeApiKey("pets_test") }],
    ["--port <number> --watch", ["3001"], { port: "true", watch: "true" }],
  ])("says where %s goes when npm has taken it for its own", (command, values, taken) => {
    vi.stubEnv("npm_lifecycle_event", "start");
    for (const [name, value] of Object.entries(taken)) vi.stubEnv(`npm_config_${name}`, value);
    expect(endOf(startOptions, values)).toEqual({
      code: 1,
      stdout: "",
      stderr: `npm keeps options before -- for itself. Write: npm start -- ${command}\n`,
    });
  });
});

describe("a start", () => {
  test("whose engine has no room left fails with one line that says so", async () => {
    // On a full disk the engine responds like this.
    await using engine = createServer((_, response) => {
      response.writeHead(500, {
        "content-type": "application/x-amz-json-1.0",
        connection: "close",
      });
      const __type = "com.amazonaws.dynamodb.v20120810#InternalServerError";
      response.end(JSON.stringify({ __type, message: "backend: database or disk is full" }));
    });
    const dynamodbEndpoint = `http://127.0.0.1:${await listeningPort(engine)}`;
    await expect(
      startLocalStack(readAssembly, { port: 0, dynamodbEndpoint }),
    ).rejects.toMatchObject({
      name: "StartError",
      message: `The DynamoDB engine at ${dynamodbEndpoint} failed: backend: database or disk is full`,
    });
  });

  test("whose table the local stack does not support doesn't blame the engine", async () => {
    const text = await readFile(
      join((await readAssembly()).directory, `${environments.staging.stackName}.template.json`),
      "utf8",
    );
    const indexed = text.replaceAll('"KeySchema"', '"GlobalSecondaryIndexes": [], "KeySchema"');
    const buildIndexed = async () => ({
      template: new StackTemplate(JSON.parse(indexed)),
      directory: "nowhere",
    });
    await expect(startLocalStack(buildIndexed, { port: 0 })).rejects.toThrow(
      /^The local stack does not support GlobalSecondaryIndexes of AWS::DynamoDB::Table Orders/,
    );
  });

  test("whose port nobody chose takes 3000", async () => {
    const listening = vi.spyOn(Server.prototype, "listen").mockImplementation(function (
      this: Server,
    ) {
      queueMicrotask(() =>
        this.emit("error", Object.assign(new Error("taken"), { code: "EADDRINUSE" })),
      );
      return this;
    });
    onTestFinished(() => listening.mockRestore());
    await expect(startLocalStack(readAssembly)).rejects.toThrow("Port 3000 on localhost is taken");
  });
});
