import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { Server } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../infra/environments.ts";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { startOptions } from "../../infra/local/start-options.ts";
import { StackTemplate } from "../../infra/local/template/stack-template.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { endOf } from "../helpers/end-of-options.ts";
import { readAssembly } from "../helpers/read-assembly.ts";
import { createStarter, startLimit } from "./start-command.ts";

const { start, ordersFile } = await createStarter();

/** Starts. @returns why that failed: what standard error has besides the line on the build. */
async function failure(options: string[], environment?: Record<string, string>): Promise<string> {
  const { seen } = start(options, environment);
  await expect.poll(() => seen, startLimit).toMatchObject({ stdout: "", ended: [1, null] });
  return seen.stderr.replace(/^Building the service\.\.\.\n/, "");
}

describe("npm start", () => {
  test("exits and lists the bad lines of the orders file as an import does", async () => {
    const file = await ordersFile("bad.ndjson", ['{"id":1}', '{"id":2,"petId":1.5}']);
    expect(await failure(["--port", "0", "--orders", file])).toBe(
      `${file}:2: petId is not a 64-bit integer\n1 of 2 lines is bad: nothing was written\n`,
    );
  });

  test("exits with advice to choose another port when its own is taken", async () => {
    await using server = createServer();
    const port = await listeningPort(server);
    expect(await failure(["--port", `${port}`])).toMatch(new RegExp(`^Port ${port} .* --port\n$`));
  });

  /** The environment in which Node.js runs some code first. */
  const preload = (code: string) => ({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
  });

  test("says which commands provide an engine when there is none", async () => {
    const noEngine = preload(`Object.defineProperty(process, "arch", { value: "riscv64" });`);
    expect(await failure(["--port", "0"], noEngine)).toMatch(
      /lacks\n- a DynamoDB engine\. Any of these commands provides one:\n(?: {4}.*\n){2} {2}.* npm start\n$/,
    );
  });

  test.each([
    ["--port <number>", "--port", "65536", "Must be a whole number from 0 to 65535."],
    ["--throttle <n>", "--throttle", "0", "Must be a whole number from 1 to 65535."],
    ["--db <file>", "--db", "", "The name of a file is missing."],
  ])("rejects an invalid value of %s in one line", (flags, option, value, reason) => {
    expect(endOf(startOptions, [option, value])).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: option '${flags}' argument '${value}' is invalid. ${reason}\n`,
    });
  });

  const { apiKeyPrefix } = environments.staging;
  test.each([
    ["of another environment", makeApiKey("pets_another"), "pets_another_..."],
    ["that is malformed", `${makeApiKey(apiKeyPrefix).slice(0, -1)}-`, `${apiKeyPrefix}_...-`],
  ])("rejects a key %s in one line, and cuts it short", (_, key, shown) => {
    const reason = `Not a well-formed key that starts with ${apiKeyPrefix}_.`;
    expect(endOf(startOptions, ["--api-key", key])).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: option '--api-key <key>' argument '${shown}' is invalid. ${reason}\n`,
    });
  });

  const environment = { DYNAMODB_ENDPOINT: "http://127.0.0.1:1" };

  test("rejects in one line --db beside DYNAMODB_ENDPOINT", async () => {
    expect(await failure(["--db", "orders.db"], environment)).toBe(
      "--db is for the embedded engine, but DYNAMODB_ENDPOINT names another: use one of the two\n",
    );
  });

  test("rejects in one line a DYNAMODB_ENDPOINT that does not respond", async () => {
    expect(await failure(["--port", "0"], environment)).toBe(
      "No DynamoDB engine responds at DYNAMODB_ENDPOINT, 127.0.0.1:1\n",
    );
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
      name: "CommandError",
      message: `The DynamoDB engine at ${dynamodbEndpoint} failed: backend: database or disk is full`,
    });
  });

  test("with an unsupported table says what the local stack does not support", async () => {
    const { directory } = await readAssembly();
    const file = join(directory, `${environments.staging.stackName}.template.json`);
    const text = await readFile(file, "utf8");
    const indexed = text.replaceAll('"KeySchema"', '"GlobalSecondaryIndexes": [], "KeySchema"');
    const buildIndexed = async () => ({
      template: new StackTemplate(JSON.parse(indexed)),
      directory: "nowhere",
    });
    await expect(startLocalStack(buildIndexed, { port: 0 })).rejects.toThrow(
      /^The local stack does not support GlobalSecondaryIndexes of AWS::DynamoDB::Table Orders/,
    );
  });

  test("uses port 3000 by default", async () => {
    const listening = vi.spyOn(Server.prototype, "listen");
    listening.mockImplementation(function (this: Server) {
      const taken = Object.assign(new Error("taken"), { code: "EADDRINUSE" });
      queueMicrotask(() => this.emit("error", taken));
      return this;
    });
    onTestFinished(() => listening.mockRestore());
    await expect(startLocalStack(readAssembly)).rejects.toThrow("Port 3000 on localhost is taken");
  });
});
