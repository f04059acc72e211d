import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { type EngineProxy, startEngineProxy } from "../../infra/local/engine/engine-proxy.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { send } from "../helpers/send.ts";

/** The requests that reached the engine. */
let reached: string[] = [];
let proxy: EngineProxy;
/** Takes the place of the engine's response. */
let hold: ((request: IncomingMessage) => void) | undefined;
const engine = createServer((request, response) => {
  reached.push(`${request.method} ${request.headers["x-amz-target"]}`);
  if (hold !== undefined) return hold(request);
  response.setHeader("access-control-allow-origin", "*").end('{"TableNames":["Orders"]}');
});
beforeAll(async () => {
  proxy = await startEngineProxy(`http://127.0.0.1:${await listeningPort(engine)}`);
});
afterAll(() => {
  proxy.close();
  engine.close();
});
beforeEach(() => {
  reached = [];
  hold = undefined;
});

/** The headers of a program that signs with the key of this start. */
const right = () => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${proxy.accessKeyId}/20261124/us-east-1/dynamodb`,
  "x-amz-target": "DynamoDB_20120810.ListTables",
});

test("a client that signs with the access key of this start reaches the engine", async () => {
  const client = engineClient(proxy.endpoint, proxy.accessKeyId);
  expect((await client.send(new ListTablesCommand())).TableNames).toEqual(["Orders"]);
  client.destroy();
});

describe("the engine is not reached by", () => {
  test.each<[string, string, Record<string, string>]>([
    ["another access key", "POST", { authorization: "AWS4-HMAC-SHA256 Credential=local/20261124" }],
    ["no signature", "POST", { authorization: "" }],
    ["a page of another origin", "POST", { origin: "https://example.com" }],
    ["a DNS name that was rebound to it", "POST", { host: "example.com" }],
    ["a preflight", "OPTIONS", {}],
    ["a GET", "GET", {}],
  ])("%s", async (_, method, difference) => {
    const headers = { ...right(), ...difference };
    const { status, headers: received } = await send(proxy.endpoint, { method, headers });
    expect({ status, reached }).toEqual({ status: 403, reached: [] });
    expect(received).not.toHaveProperty("access-control-allow-origin");
  });
});

test.each(["//", "//127.0.0.1:1/x", "http://127.0.0.1:1/x", "/x", "*"])(
  "no request for another path than / is forwarded: %s",
  async (path) => {
    const { hostname, port } = new URL(proxy.endpoint);
    const request = httpRequest({ hostname, port, path, method: "POST", headers: right() }).end();
    const [response] = await once(request, "response");
    response.resume();
    expect({ status: response.statusCode, reached }).toEqual({ status: 403, reached: [] });
  },
);

test("a client that leaves ends its request to the engine", async () => {
  const left = new AbortController();
  const ended = vi.fn<() => void>();
  hold = (request) => {
    request.on("close", ended);
    left.abort();
  };
  const asked = fetch(proxy.endpoint, { method: "POST", headers: right(), signal: left.signal });
  await expect(asked).rejects.toThrow("aborted");
  await expect.poll(() => ended).toHaveBeenCalledOnce();
});

test("an engine that ends before it responds breaks the connection", async () => {
  hold = (request) => void request.socket.destroy();
  await expect(send(proxy.endpoint, { method: "POST", headers: right() })).rejects.toThrow(
    "socket hang up",
  );
});

test("an engine that has ended breaks the connection", async () => {
  const gone = await startEngineProxy("http://127.0.0.1:1");
  const credential = `AWS4-HMAC-SHA256 Credential=${gone.accessKeyId}/`;
  const request = send(gone.endpoint, { method: "POST", headers: { authorization: credential } });
  await expect(request).rejects.toThrow();
  gone.close();
});
