import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";

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
const inShell = Object.entries(settings).map(([name, value]) => [
  name === "endpoint_discovery_enabled"
    ? "AWS_ENABLE_ENDPOINT_DISCOVERY"
    : `AWS_${name.toUpperCase()}`,
  value,
]);

/** The request that the client of an engine sends, without what is new in every request. */
async function requestWith(environment: Record<string, string>): Promise<IncomingHttpHeaders> {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const requested = Promise.withResolvers<IncomingHttpHeaders>();
  await using engine = createServer(({ method, url, headers }, response) => {
    requested.resolve({ request: `${method} ${url}`, ...headers });
    response.end('{"TableNames":[]}');
  });
  const client = engineClient(`http://127.0.0.1:${await listeningPort(engine)}`, "LOCAL1");
  await client.send(new ListTablesCommand());
  client.destroy();
  const request = await requested.promise;
  const credential = request.authorization?.replace(/\/\d{8}\/|Signature=.*/g, "");
  const { host, "x-amz-date": _, "amz-sdk-invocation-id": __, ...same } = request;
  return { ...same, authorization: credential };
}

test("no setting of the shell or of an AWS profile changes what reaches the engine", async () => {
  const folder = await mkdtemp(join(tmpdir(), "profile-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const AWS_CONFIG_FILE = join(folder, "config");
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  await writeFile(AWS_CONFIG_FILE, ["[default]", ...lines, ""].join("\n"));
  const plain = await requestWith({});
  expect(plain).toMatchObject({
    "amz-sdk-request": "attempt=1; max=3",
    authorization: expect.stringMatching(/Credential=LOCAL1us-east-1\//),
  });
  expect(await requestWith({ AWS_CONFIG_FILE })).toEqual(plain);
  expect(await requestWith(Object.fromEntries(inShell))).toEqual(plain);
  expect(await requestWith({ AWS_PROFILE: "absent" })).toEqual(plain);
});
