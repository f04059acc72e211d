import { once } from "node:events";
import { createServer, request } from "node:http";
import { expect, test } from "vitest";
import { proxyEvent, readRequest } from "../../infra/local/gateway/gateway-request.ts";
import { matchRoute } from "../../infra/local/gateway/routes.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { readRestApi } from "../../infra/local/template/rest-api.ts";
import { Template } from "../../infra/local/template/template.ts";
import { api as apiResource, mock, root, stage } from "./pets-template.ts";

const api = readRestApi(new Template({ Resources: { Api: apiResource, Stage: stage, Any: mock(root, "ANY", 404) } }));

test("a function's event has headers as they were sent, and the last value of one that was sent twice", async () => {
  const server = createServer();
  const port = await listeningPort(server);
  const [[message]] = await Promise.all([
    once(server, "request").then(([incoming, response]) => {
      response.end();
      return [incoming];
    }),
    once(
      request({ port, path: "/v1?a=1&a=2&b=3", headers: { "X-Pet": ["cat", "dog"], accept: "*/*" } }).end(),
      "response",
    ),
  ]);
  server.close();
  const route = matchRoute(api.resources, "GET", "/");
  if (route === undefined) throw new Error("The root has no route");
  expect(proxyEvent(api, route, readRequest(message), "", undefined)).toMatchObject({
    headers: { "X-Pet": "dog", accept: "*/*" },
    queryStringParameters: { a: "2", b: "3" },
  });
});
