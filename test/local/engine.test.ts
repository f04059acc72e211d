import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  checkEndpoint,
  engineClient,
  startEngine,
} from "../../infra/local/engine/engine.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { isAlive } from "../helpers/processes.ts";

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "engine-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe("the embedded engine", () => {
  const listens = 'echo "Dynoxide listening on http://127.0.0.1:$4" >&2; exec sleep 600';

  /** Starts a program as the engine is: `$4` is its port, and `$0` its own path. */
  async function start(script: string, db?: string) {
    const path = join(await temporaryFolder(), "engine");
    await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return { path, ...(await startEngine(db, path)) };
  }

  test.each([
    "error: port $4 is already in use (detected listener on 127.0.0.1:$4)",
    "error: failed to bind 127.0.0.1:$4: Address in use (os error 98)",
  ])("starts on another port when its own is taken: %s", async (line) => {
    const fails = `mkdir "$0.tried" && echo "${line}" >&2 && exit 1`;
    const { path, stop } = await start(`${fails}\n${listens}`);
    await stop();
    expect(existsSync(`${path}.tried`)).toBe(true);
  });

  test("may go on writing to its standard error, and has ended once it is stopped", async () => {
    const writes = '(head -c 3000000 /dev/zero >&2 && mkdir "$0.wrote") &';
    const { path, stop } = await start(`echo $$ > "$0.pid"; ${writes}\n${listens}`);
    await expect.poll(() => existsSync(`${path}.wrote`)).toBe(true);
    const pid = Number(await readFile(`${path}.pid`, "utf8"));
    expect(isAlive(pid)).toBe(true);
    await stop();
    expect(isAlive(pid)).toBe(false);
  });

  test("that ends at once fails the start, which quotes its last line", async () => {
    const script = 'echo "starting" >&2; echo "error: database is locked" >&2; exit 1';
    await expect(start(script, "orders.db")).rejects.toThrow(
      "The DynamoDB engine did not start with orders.db: error: database is locked",
    );
  });
});

test("DYNAMODB_ENDPOINT is an address outside AWS, and nothing is sent to another", async () => {
  const fetched = vi.fn<(url: URL) => void>();
  vi.stubGlobal("fetch", fetched);
  const lines = [];
  for (const endpoint of [
    "http://localhost:8000/",
    "http://amazonaws.com.localhost:8000",
    "http://myamazonaws.com:8000",
    "https://engine/with/path",
    "https://dynamodb.us-east-1.amazonaws.com",
    "https://dynamodb.us-east-1.amazonaws.com.",
    "https://dynamodb.cn-north-1.amazonaws.com.cn",
    "https://dynamodb.us-east-1.api.aws",
    "https://dynamodb.eusc-de-east-1.amazonaws.eu",
    "localhost:8000",
    "nonsense",
  ])
    lines.push(await checkEndpoint(endpoint).catch(String));
  expect(
    lines.join("\n").replaceAll("CommandError: DYNAMODB_ENDPOINT ", ""),
  ).toMatchInlineSnapshot(`
    "http://localhost:8000
    http://amazonaws.com.localhost:8000
    http://myamazonaws.com:8000
    https://engine/with/path
    points into AWS (dynamodb.us-east-1.amazonaws.com); the local stack only uses a local engine
    points into AWS (dynamodb.us-east-1.amazonaws.com.); the local stack only uses a local engine
    points into AWS (dynamodb.cn-north-1.amazonaws.com.cn); the local stack only uses a local engine
    points into AWS (dynamodb.us-east-1.api.aws); the local stack only uses a local engine
    points into AWS (dynamodb.eusc-de-east-1.amazonaws.eu); the local stack only uses a local engine
    must be an address like http://localhost:8000, not localhost:8000
    must be an address like http://localhost:8000, not nonsense"
  `);
  expect(fetched.mock.calls.map(([url]) => `${url}`)).toEqual([
    "http://localhost:8000/",
    "http://amazonaws.com.localhost:8000/",
    "http://myamazonaws.com:8000/",
    "https://engine/with/path",
  ]);
});

test("no setting of the shell or of an AWS profile changes what reaches the engine", async () => {
  /** Every setting of the SDK's clients, by its name in a profile. */
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
  /** The request that the client of an engine sends, without what is new in every request. */
  async function requestWith(environment: Record<string, string>) {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const requested = Promise.withResolvers<IncomingHttpHeaders>();
    await using engine = createServer(({ method, url, headers }, response) => {
      requested.resolve({ request: `${method} ${url}`, ...headers });
      response.end('{"TableNames":[]}');
    });
    const client = engineClient(`http://127.0.0.1:${await listeningPort(engine)}`);
    await client.send(new ListTablesCommand());
    client.destroy();
    const {
      host,
      "x-amz-date": _,
      "amz-sdk-invocation-id": __,
      ...same
    } = await requested.promise;
    const authorization = same.authorization?.replace(/\/\d{8}\/|Signature=.*/g, "");
    return { ...same, authorization };
  }
  const plain = await requestWith({});
  // An engine may keep separate tables for each region and key: those of the functions, too.
  expect(plain).toMatchObject({
    "amz-sdk-request": "attempt=1; max=3",
    authorization: expect.stringMatching(/Credential=localus-east-1\//),
  });
  const AWS_CONFIG_FILE = join(await temporaryFolder(), "config");
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  await writeFile(AWS_CONFIG_FILE, ["[default]", ...lines, ""].join("\n"));
  expect(await requestWith({ AWS_CONFIG_FILE })).toEqual(plain);
  const variables = Object.entries(settings).map(([name, value]) => [
    `AWS_${name.toUpperCase()}`.replace(
      "ENDPOINT_DISCOVERY_ENABLED",
      "ENABLE_ENDPOINT_DISCOVERY",
    ),
    value,
  ]);
  expect(await requestWith(Object.fromEntries(variables))).toEqual(plain);
  expect(await requestWith({ AWS_PROFILE: "absent" })).toEqual(plain);
});
