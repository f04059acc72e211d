import { once } from "node:events";
import { createServer, request } from "node:http";
import { expect, test } from "vitest";
import { proxyEvent, readBody, readRequest } from "../../../infra/local/gateway/gateway-request.ts";
import { matchRoute } from "../../../infra/local/gateway/routes.ts";
import { listeningPort } from "../../../infra/local/machine/ports.ts";
import { mock, petsApi, root } from "../pets-template.ts";

const api = petsApi({ Any: mock(root, "ANY", 404) });
const route = matchRoute(api.methods, "GET", "/");

/** The event of a GET of the root with a body. */
async function eventOf(path: string, headers: Record<string, string | string[]>, body: string) {
  if (route === undefined) throw new Error("The root has no route");
  const event = Promise.withResolvers<object>();
  await using server = createServer(async (message, response) => {
    const gatewayRequest = readRequest(message);
    const sentBody = await readBody(gatewayRequest);
    event.resolve(proxyEvent(api, route, gatewayRequest, sentBody, undefined));
    response.end();
  });
  const port = await listeningPort(server);
  const sent = request({ port, path, headers: { host: "pets", connection: "close", ...headers } });
  await once(sent.end(body), "response");
  return await event.promise;
}

// A value that is another header's name is not taken for that header.
const repeated = { "X-Pet": ["cat", "Accept"], accept: "*/*" };

test("a function's event has the fields that API Gateway sends", async () => {
  expect(await eventOf("/v1?a=1", { "x-amzn-requestid": "request-1" }, "")).toEqual({
    resource: "/",
    path: "/",
    httpMethod: "GET",
    headers: { host: "pets", connection: "close", "x-amzn-requestid": "request-1" },
    multiValueHeaders: {
      host: ["pets"],
      connection: ["close"],
      "x-amzn-requestid": ["request-1"],
    },
    queryStringParameters: { a: "1" },
    multiValueQueryStringParameters: { a: ["1"] },
    pathParameters: null,
    requestContext: {
      httpMethod: "GET",
      identity: { sourceIp: "127.0.0.1" },
      path: "/v1",
      requestId: "request-1",
      resourcePath: "/",
      stage: "v1",
    },
    body: null,
    isBase64Encoded: false,
  });
});

test("a function's event lists every value of a header and a query parameter", async () => {
  const common = { host: ["pets"], connection: ["close"] };
  expect(await eventOf("/v1?a=1&a=2&b=3", repeated, "")).toMatchObject({
    multiValueHeaders: { ...common, "X-Pet": ["cat", "Accept"], accept: ["*/*"] },
    multiValueQueryStringParameters: { a: ["1", "2"], b: ["3"] },
  });
});

test("a function's event has the last value where only one fits", async () => {
  expect(await eventOf("/v1?a=1&a=2&b=3", repeated, "")).toMatchObject({
    headers: { host: "pets", connection: "close", "X-Pet": "Accept", accept: "*/*" },
    queryStringParameters: { a: "2", b: "3" },
  });
});

test("a function's event has null for a missing query and body", async () => {
  expect(await eventOf("/v1/", {}, "")).toMatchObject({ queryStringParameters: null, body: null });
});

test("a function's event has the body", async () => {
  expect(await eventOf("/v1/", { "content-length": "4" }, "meow")).toMatchObject({ body: "meow" });
});

test("a function's event has the path of a request for an absolute URL", async () => {
  const url = "http://pets.example/v1/?c&from=http://cats.example?d";
  expect(await eventOf(url, {}, "")).toMatchObject({
    path: "/",
    queryStringParameters: { c: "", from: "http://cats.example?d" },
    requestContext: { path: "/v1/" },
  });
});
