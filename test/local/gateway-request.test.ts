import { once } from "node:events";
import { createServer, request } from "node:http";
import { expect, test } from "vitest";
import { proxyEvent, readRequest } from "../../infra/local/gateway/gateway-request.ts";
import { matchRoute } from "../../infra/local/gateway/routes.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { readRestApi } from "../../infra/template/rest-api.ts";
import { StackTemplate } from "../../infra/template/stack-template.ts";
import { api as apiResource, mock, root, stage } from "../helpers/pets-template.ts";

const api = readRestApi(
  new StackTemplate({ Resources: { Api: apiResource, Stage: stage, Any: mock(root, "ANY", 404) } }),
);

test("a function's event has every value of a header and a query parameter, and the last where there is room for one", async () => {
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
  const route = matchRoute(api.methods, "GET", "/");
  if (route === undefined) throw new Error("The root has no route");
  expect(proxyEvent(api, route, readRequest(message), "", undefined)).toMatchObject({
    headers: { "X-Pet": "dog", accept: "*/*" },
    multiValueHeaders: { "X-Pet": ["cat", "dog"], accept: ["*/*"] },
    queryStringParameters: { a: "2", b: "3" },
    multiValueQueryStringParameters: { a: ["1", "2"], b: ["3"] },
  });
});
