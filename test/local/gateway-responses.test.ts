import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { Gateway } from "../../infra/local/gateway/gateway.ts";
import { FunctionFailure } from "../../infra/local/lambda/function-response.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { readRestApi } from "../../infra/template/rest-api.ts";
import { StackTemplate } from "../../infra/template/stack-template.ts";
import { alias, api, invoking, lambda, mock, root, stage, version } from "../helpers/pets-template.ts";
import { send } from "../helpers/send.ts";

const constant = (body: string) => ({ ResponseTemplates: { "application/json": body } });

/** Starts the gateway of an API whose GET fails, and whose other methods are MOCK ones, besides these resources. */
async function startGateway(resources: object): Promise<string> {
  const { Properties: any } = mock(root, "ANY", 404);
  const [response] = any.Integration.IntegrationResponses;
  const Integration = { ...any.Integration, IntegrationResponses: [{ ...response, ...constant('{"cat":"é"}') }] };
  const Any = { Type: "AWS::ApiGateway::Method", Properties: { ...any, Integration } };
  const functions = {
    Fn: lambda,
    Version: version("Fn"),
    Live: alias("Fn", "Version"),
    Get: invoking({ Ref: "Live" }),
  };
  const template = new StackTemplate({ Resources: { Api: api, Stage: stage, Any, ...functions, ...resources } });
  const host = { invoke: () => Promise.reject(new FunctionFailure("Runtime.ExitError", "crashed")) };
  const gateway = new Gateway(readRestApi(template), host, { clock: () => 0, log: () => {} });
  const server = createServer((request, response) => gateway.serve(request, response));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listeningPort(server)}`;
}

test("failures for which the API has no gateway response have AWS's status and no body", async () => {
  const origin = await startGateway({});
  expect(await send(`${origin}/v1`)).toMatchObject({ status: 504, body: "" });
  expect(await send(`${origin}/v2`)).toMatchObject({ status: 403, body: "" });
  expect(await send(`${origin}/v1`, { method: "PUT", headers: { "content-type": "image/png" } })).toMatchObject({
    status: 415,
    body: "",
  });
});

test("failures without a gateway response of their own have the default one of their kind", async () => {
  const gatewayResponse = (ResponseType: string, body: string, StatusCode?: string) => ({
    Type: "AWS::ApiGateway::GatewayResponse",
    Properties: { ResponseType, StatusCode, ...constant(body) },
  });
  const origin = await startGateway({
    Default4xx: gatewayResponse("DEFAULT_4XX", "4"),
    Default5xx: gatewayResponse("DEFAULT_5XX", "5", "500"),
  });
  expect(await send(`${origin}/v2`)).toMatchObject({ status: 403, body: "4" });
  expect(await send(`${origin}/v1`)).toMatchObject({ status: 500, body: "5" });
});

test.each(["application/json", "Application/JSON ;charset=utf-8"])("a MOCK method takes %s", async (type) => {
  const origin = await startGateway({});
  const { status, headers, body } = await send(`${origin}/v1`, { method: "PUT", headers: { "content-type": type } });
  expect({ status, length: headers["content-length"], body }).toEqual({
    status: 404,
    length: "12",
    body: '{"cat":"é"}',
  });
});
