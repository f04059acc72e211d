import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { noEngine, startEngine } from "../../../infra/tools/local/engine/engine.ts";
import {
  checkEndpoint,
  requireEngine,
} from "../../../infra/tools/local/engine/external-engine.ts";
import { listenOn } from "../../../infra/tools/local/machine/ports.ts";
import { engineClient } from "../../../infra/tools/running-stacks/engine-client.ts";
import { isAlive } from "../../helpers/processes.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

async function temporaryFile(): Promise<string> {
  const { path, remove } = await temporaryFolder();
  onTestFinished(remove);
  return join(path, "file");
}

describe("the embedded engine", () => {
  /** Starts a program as the engine is: `$4` is its port, and `$0` its own path. */
  async function start(script: string, db?: string) {
    const path = await temporaryFile();
    await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return { path, ...(await startEngine(db, path)) };
  }

  test("may go on writing to its standard error, and has ended once it is stopped", async () => {
    const { path, stop } = await start(`
      echo $$ > "$0.pid"
      (head -c 3000000 /dev/zero >&2 && mkdir "$0.wrote") &
      echo "Dynoxide listening on http://127.0.0.1:$4" >&2
      exec sleep 600`);
    await expect.poll(() => existsSync(`${path}.wrote`)).toBe(true);
    const pid = Number(await readFile(`${path}.pid`, "utf8"));
    expect(isAlive(pid)).toBe(true);
    await stop();
    expect(isAlive(pid)).toBe(false);
  });

  test("that finds its port taken gets another one", async () => {
    const { endpoint, stop } = await start(`
      mkdir "$0.again" && echo "failed to bind $2:$4: Address in use" >&2 && exit 1
      echo "Dynoxide listening on http://127.0.0.1:$4" >&2
      exec sleep 600`);
    await stop();
    // A page in a browser must not guess it; only Linux has such addresses.
    const host = process.platform === "linux" ? String.raw`127\.(?!0\.0\.1:)` : "";
    expect(endpoint).toMatch(RegExp(`^http://${host}`));
  });

  test("that ends at once fails the start, which quotes its last line", async () => {
    const script = 'echo "starting" >&2; echo "error: database is locked" >&2; exit 1';
    await expect(start(script, "orders.db")).rejects.toThrow(
      "The DynamoDB engine did not start with orders.db: error: database is locked",
    );
    expect(noEngine()).toMatch(/^The DynamoDB engine is not installed. Run npm ci, or /);
    const silent = "The DynamoDB engine did not start: it said nothing";
    await expect(start("exit 1")).rejects.toThrow(silent);
  });
});

test("DYNAMODB_ENDPOINT is an address outside AWS", () => {
  const taken = [
    "http://localhost:8000",
    "http://amazonaws.com.localhost:8000",
    "http://myamazonaws.com:8000",
    "https://engine/with/path",
  ];
  expect(taken.map((address) => checkEndpoint(`${address}/`))).toEqual(taken);
  for (const endpoint of [
    "https://dynamodb.us-east-1.amazonaws.com",
    "https://dynamodb.us-east-1.amazonaws.com.",
    "https://dynamodb.cn-north-1.amazonaws.com.cn",
    "https://dynamodb.us-east-1.api.aws",
    "https://dynamodb.eusc-de-east-1.amazonaws.eu",
    "localhost:8000",
    "nonsense",
  ])
    expect(() => checkEndpoint(endpoint)).toThrow(
      `DYNAMODB_ENDPOINT must be the address of a local engine, like http://localhost:8000, not ${endpoint}`,
    );
});

test("an engine at DYNAMODB_ENDPOINT that does not respond in 5 seconds is named", async () => {
  await using engine = createServer((_, response) => response.end());
  const endpoint = `http://127.0.0.1:${await listenOn(engine)}`;
  using limit = vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
  await expect(requireEngine(endpoint)).rejects.toThrow(
    `No DynamoDB engine responds at DYNAMODB_ENDPOINT, ${endpoint}`,
  );
  expect(limit).toHaveBeenCalledWith(5000);
});

test("no setting of the shell or of an AWS profile changes what reaches the engine", async () => {
  const settings = {
    account_id_endpoint_mode: "required",
    auth_scheme_preference: "httpBearerAuth",
    defaults_mode: "auto",
    endpoint_discovery_enabled: "true",
    endpoint_url: "http://127.0.0.1:1",
    max_attempts: "1",
    region: "eu-central-1",
    retry_mode: "adaptive",
    sdk_ua_app_id: "ours",
    use_dualstack_endpoint: "true",
    use_fips_endpoint: "true",
  };
  async function requestWith(environment: Record<string, string>) {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const requested = Promise.withResolvers<IncomingHttpHeaders>();
    await using engine = createServer(({ method, url, headers }, response) => {
      requested.resolve({ request: `${method} ${url}`, ...headers });
      response.setHeader("x-amzn-requestid", "A1").end('{"TableNames":[]}');
    });
    const client = engineClient(`http://127.0.0.1:${await listenOn(engine)}`);
    await client.send(new ListTablesCommand());
    client.destroy();
    const { host: _, authorization, ...same } = await requested.promise;
    const changing = { "x-amz-date": "", "amz-sdk-invocation-id": "" };
    const [credential] = authorization?.replace(/\/\d{8}\//, "/").split(",") ?? [];
    return { ...same, ...changing, credential };
  }
  const plain = await requestWith({});
  // An engine may keep separate tables for each region and key: those of the functions, too.
  expect(plain).toMatchObject({
    "amz-sdk-request": "attempt=1; max=3",
    credential: expect.stringContaining("Credential=local/us-east-1/"),
  });
  const AWS_CONFIG_FILE = await temporaryFile();
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  await writeFile(AWS_CONFIG_FILE, `[default]\n${lines.join("")}`);
  const AWS_ENABLE_ENDPOINT_DISCOVERY = "true";
  const variables = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`AWS_${name.toUpperCase()}`, value]),
  );
  for (const environment of [
    { AWS_CONFIG_FILE },
    { ...variables, AWS_ENABLE_ENDPOINT_DISCOVERY },
    { AWS_PROFILE: "absent" },
  ])
    expect(await requestWith(environment)).toEqual(plain);
});
