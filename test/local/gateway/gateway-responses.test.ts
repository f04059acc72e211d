import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { ZodError } from "zod";
import { createGateway } from "../../../infra/local/gateway/gateway.ts";
import { readProxyResponse } from "../../../infra/local/gateway/proxy-response.ts";
import { FunctionFailure } from "../../../infra/local/lambda/function-response.ts";
import { listeningPort } from "../../../infra/local/machine/ports.ts";
import { send } from "../../helpers/send.ts";
import { constant, mock, petsApi, root } from "../pets-template.ts";

/** Starts the gateway of an API with a MOCK method and this gateway response alone. */
async function startGateway(ResponseType: string, StatusCode?: string) {
  const Properties = { ResponseType, StatusCode, ...constant("why not") };
  const api = petsApi({
    Any: mock(root, "ANY", 404),
    Failed: { Type: "AWS::ApiGateway::GatewayResponse", Properties },
  });
  const host = { invoke: () => Promise.reject(new FunctionFailure("crashed")) };
  const log: string[] = [];
  const options = { clock: { now: () => 0 }, log: (line: string) => void log.push(line) };
  const server = createServer(createGateway(api, host, options));
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${await listeningPort(server)}`, log };
}

describe.each([
  ["no gateway response", "THROTTLED", "429"],
  ["a gateway response without a status", "MISSING_AUTHENTICATION_TOKEN", undefined],
])("a failure for which the API has %s", (_, type, status) => {
  test("gets an empty 500", async () => {
    const { origin } = await startGateway(type, status);
    expect(await send(`${origin}/v2`)).toMatchObject({ status: 500, body: "" });
  });

  test("is logged as the template's fault", async () => {
    const { origin, log } = await startGateway(type, status);
    await send(`${origin}/v2`);
    expect(log).toEqual([
      "The template has no gateway response MISSING_AUTHENTICATION_TOKEN with a status",
    ]);
  });
});

/** Sends a request with this content type to a MOCK method for JSON. */
async function put(type: string) {
  const { origin } = await startGateway("UNSUPPORTED_MEDIA_TYPE", "415");
  return send(`${origin}/v1`, { method: "PUT", headers: { "content-type": type } });
}

test.each([
  ["in any case", "Application/JSON"],
  ["with parameters", "application/json ;charset=utf-8"],
])("a MOCK method accepts its content type %s", async (_, type) => {
  expect(await put(type)).toMatchObject({ status: 404, body: '{"cat":"é"}' });
});

test("a MOCK method's response has its length in bytes", async () => {
  const { headers, body } = await put("application/json");
  expect(body).toHaveLength(11);
  expect(headers["content-length"]).toBe("12");
});

test("a MOCK method rejects any other content type", async () => {
  expect(await put("image/png")).toMatchObject({ status: 415, body: "why not" });
});

const json = { "content-type": "application/json" };
test.each([
  ["a body", { statusCode: 200, body: "é" }, 200, { ...json, "content-length": 2 }, "é"],
  [
    "headers in capitals",
    { statusCode: 201, headers: { "Content-Type": "text/plain", "X-New": "true" } },
    201,
    { "content-type": "text/plain", "x-new": "true", "content-length": 0 },
    "",
  ],
  ["a status that has no length", { statusCode: 304 }, 304, json, ""],
])("a function may respond with %s", (_, returned, status, headers, body) => {
  const response = readProxyResponse(
    { kind: "buffered", payload: JSON.stringify(returned) },
    false,
  );
  expect(response).toEqual({ status, headers, body: Buffer.from(body) });
});

test.each([
  { statusCode: 199 },
  { statusCode: 600 },
  { statusCode: 200.5 },
  { status: 200 },
  { statusCode: 200, body: {} },
  { statusCode: 200, isBase64Encoded: true, body: "w6k=" },
])("a function may not respond with %j", (returned) => {
  const response = { kind: "buffered" as const, payload: JSON.stringify(returned) };
  expect(() => readProxyResponse(response, false)).toThrow(ZodError);
});
