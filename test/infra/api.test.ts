import type { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { named } from "../helpers/alarms/definitions.ts";
import { resources, templates } from "../helpers/synthesise.ts";

/** Every path of the API that has a method, with what the method is. */
function methods(template: Template): Map<string, Record<string, unknown>> {
  const parts = new Map(resources(template, "AWS::ApiGateway::Resource"));
  const path = (reference: unknown): string => {
    const { Ref: id } = reference as { Ref?: string };
    if (id === undefined) return "";
    const { ParentId, PathPart } = parts.get(id) ?? {};
    return `${path(ParentId)}/${PathPart}`;
  };
  return new Map(
    resources(template, "AWS::ApiGateway::Method").map(([, method]) => [
      `${method["HttpMethod"]} ${path(method["ResourceId"]) || "/"}`,
      method,
    ]),
  );
}

const operations = ["GET /store/orders", "DELETE /store/orders/{orderId}"];
const mocks: [string, number, string | undefined][] = [
  ["ANY /", 404, undefined],
  ["ANY /store", 404, undefined],
  ["ANY /{proxy+}", 404, undefined],
  ["ANY /store/orders", 405, "'GET'"],
  ["ANY /store/orders/{orderId}", 405, "'DELETE'"],
];

describe.each(templates)("the API of %s", (_name, template) => {
  const all = methods(template);

  test("has the operations named here, a response to every other method and path, and nothing else", () => {
    expect([...all.keys()].sort()).toEqual([...operations, ...mocks.map(([method]) => method)].sort());
  });

  test("asks the authorizer before every operation", () => {
    const authorizer = Object.keys(template.findResources("AWS::ApiGateway::Authorizer"))[0];
    for (const [name, method] of all) {
      const integration = method["Integration"] as { Type: string };
      const expected = integration.Type === "MOCK" ? ["NONE", undefined] : ["CUSTOM", { Ref: authorizer }];
      expect([name, method["AuthorizationType"], method["AuthorizerId"]]).toEqual([name, ...expected]);
    }
  });

  test("streams the list and waits for each function as long as it may run", () => {
    const integration = (name: string) => all.get(name)?.["Integration"];
    expect(integration("GET /store/orders")).toMatchObject({
      Type: "AWS_PROXY",
      ResponseTransferMode: "STREAM",
      TimeoutInMillis: 900_000,
    });
    expect(JSON.stringify(integration("GET /store/orders"))).toContain("response-streaming-invocations");
    expect(integration("DELETE /store/orders/{orderId}")).toMatchObject({ Type: "AWS_PROXY", TimeoutInMillis: 15_000 });
  });

  test.each(mocks)("responds to %s with %i by itself, whatever the body", (name, status, allow) => {
    const method = all.get(name) as {
      Integration: {
        PassthroughBehavior: string;
        RequestTemplates: Record<string, string>;
        IntegrationResponses: {
          StatusCode: string;
          ResponseParameters: Record<string, string>;
          ResponseTemplates: Record<string, string>;
        }[];
      };
      MethodResponses: { StatusCode: string; ResponseParameters: Record<string, boolean> }[];
    };
    const { PassthroughBehavior, RequestTemplates, IntegrationResponses } = method.Integration;
    expect(PassthroughBehavior).toBe("NEVER");
    // Written out again: a type that falls out of the stack's list must be missed here.
    expect(Object.keys(RequestTemplates).sort()).toEqual([
      "application/json",
      "application/octet-stream",
      "application/x-www-form-urlencoded",
      "application/xml",
      "multipart/form-data",
      "text/plain",
      "text/xml",
    ]);
    for (const template of Object.values(RequestTemplates))
      expect(JSON.parse(template)).toEqual({ statusCode: status });
    const [response] = IntegrationResponses;
    expect(IntegrationResponses).toHaveLength(1);
    expect(JSON.parse(response?.ResponseTemplates["application/json"] ?? "")).toMatchObject({ status });
    const headers = {
      "method.response.header.Cache-Control": "'no-store'",
      ...(allow && { "method.response.header.Allow": allow }),
    };
    expect(response).toMatchObject({ StatusCode: String(status), ResponseParameters: headers });
    expect(method.MethodResponses).toEqual([
      {
        StatusCode: String(status),
        ResponseParameters: Object.fromEntries(Object.keys(headers).map((name) => [name, true])),
      },
    ]);
  });

  test("invokes the live alias of each function, never the function itself", () => {
    const uris = {
      "GET /store/orders": all.get("GET /store/orders")?.["Integration"],
      "DELETE /store/orders/{orderId}": all.get("DELETE /store/orders/{orderId}")?.["Integration"],
      authorizer: resources(template, "AWS::ApiGateway::Authorizer")[0]?.[1],
    };
    const invoked = Object.entries(uris).map(([name, part]) => [
      name,
      /functions\/(\w*)/.exec(JSON.stringify(named((part as { Uri?: string; AuthorizerUri?: string }) ?? {})))?.[1],
    ]);
    expect(Object.fromEntries(invoked)).toEqual({
      "GET /store/orders": "ListOrdersAliaslive",
      "DELETE /store/orders/{orderId}": "CancelOrderAliaslive",
      authorizer: "AuthorizeAliaslive",
    });
  });

  test("lets no one invoke a function from the console's test page, past the authorizer", () => {
    const permissions = JSON.stringify(resources(template, "AWS::Lambda::Permission"));
    expect(permissions).toContain("/GET/store/orders");
    expect(permissions).not.toContain("test-invoke-stage");
  });

  const stage = () => resources(template, "AWS::ApiGateway::Stage")[0]?.[1] ?? {};

  test("is regional and at the stage v1", () => {
    template.hasResourceProperties("AWS::ApiGateway::RestApi", { EndpointConfiguration: { Types: ["REGIONAL"] } });
    expect(stage()).toMatchObject({ StageName: "v1" });
  });

  test("takes TLS 1.2 or newer, with post-quantum key exchange", () => {
    template.hasResourceProperties("AWS::ApiGateway::RestApi", {
      SecurityPolicy: "SecurityPolicy_TLS13_1_2_PQ_2025_09",
      EndpointAccessMode: "STRICT",
    });
  });

  test("logs who did what and how it went, but no header, query or body, which may hold a key", () => {
    const { Format, DestinationArn } = stage()["AccessLogSetting"] as { Format: string; DestinationArn: unknown };
    expect(named(DestinationArn)).toBe("ApiAccessLog.Arn");
    expect(JSON.parse(Format)).toEqual({
      requestId: "$context.requestId",
      lambdaRequestId: "$context.integration.requestId",
      keyId: "$context.authorizer.keyId",
      sourceIp: "$context.identity.sourceIp",
      domainName: "$context.domainName",
      tlsVersion: "$context.tlsVersion",
      method: "$context.httpMethod",
      resource: "$context.resourcePath",
      status: "$context.status",
      responseType: "$context.error.responseType",
      responseLength: "$context.responseLength",
      responseLatency: "$context.responseLatency",
      integrationLatency: "$context.integrationLatency",
      timeToFirstContent: "$context.integration.timeToFirstContent",
      integrationStatus: "$context.integration.status",
      authorizerRequestId: "$context.authorizer.requestId",
      authorizerLatency: "$context.authorizer.latency",
      authorizerStatus: "$context.authorizer.status",
      time: "$context.requestTimeEpoch",
    });
  });

  test("says where it is, and where its tables are", () => {
    const outputs = template.toJSON()["Outputs"];
    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(["ApiKeysTableName", "BaseUrl", "OrdersTableName"]));
    expect(JSON.stringify(outputs.BaseUrl.Value)).toMatch(/\{"Ref":"AWS::URLSuffix"\},"\/v1"\]\]\}$/);
  });
});
