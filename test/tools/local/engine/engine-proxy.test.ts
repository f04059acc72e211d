import { once } from "node:events";
import {
  createServer,
  type RequestOptions,
  request,
  type ServerResponse,
} from "node:http";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { startEngineProxy } from "../../../../infra/tools/local/engine/engine-proxy.ts";
import { listenOn } from "../../../../infra/tools/local/machine/ports.ts";
import { engineClient } from "../../../../infra/tools/running-stacks/engine-client.ts";

const engine = createServer((_, response) => engineResponds(response));
const engineResponds = vi.fn<(response: ServerResponse) => void>();
const {
  accessKeyId,
  dynamodbEndpoint: endpoint,
  close,
} = await startEngineProxy(`http://127.0.0.1:${await listenOn(engine)}`);
afterAll(() => {
  close();
  engine.close();
});
beforeEach(() => {
  engineResponds.mockReset().mockImplementation((response) => {
    response
      .setHeader("access-control-allow-origin", "*")
      .setHeader("x-amzn-requestid", "A1")
      .end('{"TableNames":["Orders"]}');
  });
});

const signature = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261124/us-east-1/dynamodb`;

function ask(changes: RequestOptions = {}) {
  const headers = { authorization: signature, ...changes.headers };
  return request(endpoint, { method: "POST", agent: false, ...changes, headers }).end();
}

test("a client that signs with the access key of this start reaches the engine", async () => {
  const client = engineClient(endpoint, accessKeyId);
  expect((await client.send(new ListTablesCommand())).TableNames).toEqual(["Orders"]);
  client.destroy();
});

test.each([
  ["another key", { headers: { authorization: signature.replace("=", "=x") } }],
  ["no signature", { headers: { authorization: "" } }],
  ["a preflight", { method: "OPTIONS", headers: { authorization: "" } }],
])("the engine is not reached by %s", async (_, changes) => {
  const [{ statusCode, headers }] = await once(ask(changes), "response");
  expect(statusCode).toBe(403);
  expect(headers).not.toHaveProperty("access-control-allow-origin");
  expect(engineResponds).not.toHaveBeenCalled();
});

test("a client that leaves ends its request to the engine", async () => {
  const ended = vi.fn<() => void>();
  const client = ask().on("error", () => {});
  engineResponds.mockImplementation((response) => {
    response.on("close", ended);
    client.destroy();
  });
  await expect.poll(() => ended).toHaveBeenCalledOnce();
});

test("an engine that ends before it responds, or has ended, breaks the connection", async () => {
  engineResponds.mockImplementation((response) => {
    response.socket?.destroy();
    engine.close();
  });
  for (const _ of ["ends", "has ended"])
    await expect(once(ask(), "response")).rejects.toThrow("socket hang up");
});
