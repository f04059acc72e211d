import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { checkEndpoint, engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { readFunctions } from "../../infra/local/functions.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { isAlive } from "../helpers/processes.ts";
import { readAssembly } from "../helpers/read-assembly.ts";

describe("the embedded engine", () => {
  const listens = 'echo "Dynoxide listening on http://127.0.0.1:$4" >&2; exec sleep 600';

  /** A program that is started as the engine is: `$4` is its port, and `$0` its own path. */
  async function program(script: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "engine-test-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "engine");
    await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return path;
  }

  test.each([
    "error: port $4 is already in use (detected listener on 127.0.0.1:$4)",
    "error: failed to bind 127.0.0.1:$4: Address in use (os error 98)",
  ])("starts on another port when its own is taken: %s", async (line) => {
    const path = await program(`mkdir "$0.tried" && echo "${line}" >&2 && exit 1\n${listens}`);
    const engine = await startEngine(undefined, path);
    expect(existsSync(`${path}.tried`)).toBe(true);
    await engine.stop();
  });

  test("has ended once it is stopped", async () => {
    const path = await program(`echo $$ > "$0.pid"; ${listens}`);
    const engine = await startEngine(undefined, path);
    const pid = Number(await readFile(`${path}.pid`, "utf8"));
    expect(isAlive(pid)).toBe(true);
    await engine.stop();
    expect(isAlive(pid)).toBe(false);
  });

  test("that ends at once fails the start, which quotes its last line", async () => {
    const path = await program('echo "starting" >&2; echo "error: database is locked" >&2; exit 1');
    await expect(startEngine("orders.db", path)).rejects.toThrow(
      "The DynamoDB engine did not start with orders.db: error: database is locked",
    );
  });

  test("may go on writing to its standard error", async () => {
    const path = await program(`(head -c 3000000 /dev/zero >&2 && mkdir "$0.wrote") &\n${listens}`);
    const engine = await startEngine(undefined, path);
    await expect
      .poll(() => existsSync(`${path}.wrote`), { message: "all 3 MB were written" })
      .toBe(true);
    await engine.stop();
  });
});

describe("DYNAMODB_ENDPOINT", () => {
  test.each([
    "dynamodb.us-east-1.amazonaws.com",
    "dynamodb.us-east-1.amazonaws.com.",
    "dynamodb.cn-north-1.amazonaws.com.cn",
    "dynamodb.us-east-1.api.aws",
    "dynamodb.eusc-de-east-1.amazonaws.eu",
  ])("in AWS is rejected before a request is sent: %s", async (host) => {
    const fetched = vi.fn();
    vi.stubGlobal("fetch", fetched);
    await expect(checkEndpoint(`https://${host}`)).rejects.toThrow(
      `DYNAMODB_ENDPOINT points into AWS (${host})`,
    );
    expect(fetched).not.toHaveBeenCalled();
  });

  test.each(["localhost:8000", "nonsense"])(
    "may not be %s, which is not an HTTP address",
    async (text) => {
      await expect(checkEndpoint(text)).rejects.toMatchObject({
        name: "CommandError",
        message: `DYNAMODB_ENDPOINT must be an address like http://localhost:8000, not ${text}`,
      });
    },
  );

  test.each([
    "http://amazonaws.com.localhost:8000",
    "http://myamazonaws.com:8000",
    "https://engine/with/path",
  ])("may be %s", async (endpoint) => {
    vi.stubGlobal("fetch", vi.fn());
    expect(await checkEndpoint(endpoint)).toBe(endpoint);
  });

  test("loses a trailing slash", async () => {
    vi.stubGlobal("fetch", vi.fn());
    expect(await checkEndpoint("http://localhost:8000/")).toBe("http://localhost:8000");
  });
});

test("functions use the region, key and endpoint with which the tables were made", async () => {
  const endpoint = "http://127.0.0.1:8000";
  // An engine may keep separate tables for each region and key.
  const { config } = engineClient(endpoint);
  const { accessKeyId } = await config.credentials();
  const functions = readFunctions(await readAssembly(), endpoint);
  expect(functions).not.toHaveLength(0);
  for (const { environment } of functions) {
    expect(environment).toMatchObject({
      AWS_REGION: await config.region(),
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    });
  }
});

test("functions that are debugged have a port each and a day for their work", async () => {
  const functions = readFunctions(await readAssembly(), "http://127.0.0.1:8000", true);
  const ports = functions.map(({ inspectPort }) => inspectPort);
  expect(ports.sort()).toEqual([9229, 9230, 9231]);
  for (const { timeoutSeconds } of functions) expect(timeoutSeconds).toBe(86_400);
});

test("functions have the memory and time that the list of functions gives them", async () => {
  const functions = readFunctions(await readAssembly(), "http://127.0.0.1:8000");
  const limits = functions.map(({ name, memoryMegabytes, timeoutSeconds }) => [
    name,
    memoryMegabytes,
    timeoutSeconds,
  ]);
  expect(limits.sort()).toEqual(
    Object.values(functionList)
      .map(({ id, memorySize, timeoutSeconds }) => [id, memorySize, timeoutSeconds])
      .sort(),
  );
});
