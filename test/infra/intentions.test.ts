import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { constructId } from "../helpers/named.ts";
import { rows, templateOf } from "../helpers/synthesise.ts";

/** What each function does and may do. A new one needs a line. */
const promised = [
  "ListOrders: 900 s, dynamodb:Scan of Orders, GET /store/orders, 900000 ms, STREAM",
  "CancelOrder: 10 s, dynamodb:UpdateItem of Orders, DELETE /store/orders/{orderId}, 15000 ms",
  "Authorize: 5 s, dynamodb:GetItem of ApiKeys",
];

/** The fields that the access log may hold: of the caller, the request and its outcome. */
const harmless = [
  /^\$context\.(authorizer\.(keyId|latency|requestId|status)|identity\.sourceIp|tlsVersion)$/,
  /^\$context\.(domainName|httpMethod|requestId|requestTimeEpoch|resourcePath)$/,
  /^\$context\.(error\.responseType|integration\.\w+|integrationLatency|response\w+|status)$/,
];

interface Resource {
  Properties?: object;
  DeletionPolicy?: string;
  UpdatePolicy?: object;
}

describe.each([everyOption, noOption])("in the template of $name,", (environment) => {
  const template = templateOf(environment);
  const all: Record<string, Resource> = template.toJSON()["Resources"];
  const ofType = (type: string) => rows(template, `AWS::${type}`);
  const [[, stage] = []] = ofType("ApiGateway::Stage");
  const methods = ofType("ApiGateway::Method")
    .map(([, method]) => method)
    .filter(({ Integration }) => Integration.Type !== "MOCK");
  /** The address of a resource of the API, like `/store/orders`. */
  const path = (id: string): string => {
    const [, resource] = ofType("ApiGateway::Resource").find(([own]) => own === id) ?? [];
    return resource ? `${path(resource.ParentId)}/${resource.PathPart}` : "";
  };
  const statementsFor = (role: string) =>
    ofType("IAM::Policy").flatMap(([, { PolicyDocument, Roles }]) =>
      Roles.includes(role) ? PolicyDocument.Statement : [],
    );

  test("each function does what it is for, and may do nothing else but write its own log", () => {
    const functions = ofType("Lambda::Function").map(([id, { Role, Timeout }]) => {
      expect(Role).toBe(`${id}Role.Arn`);
      const [log, ...others] = statementsFor(`${id}Role`);
      expect(log).toMatchObject({
        Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
        Resource: `${id}Log.Arn`,
      });
      const grants = others.map(
        ({ Action, Resource }) => `${Action} of ${String(Resource).replace(/\.Arn$/, "")}`,
      );
      const served = methods
        .filter(({ Integration }) => Integration.Uri.includes(`/${id}Aliaslive/`))
        .flatMap(({ HttpMethod, Integration, ResourceId }) => [
          `${HttpMethod} ${path(ResourceId)}`,
          `${Integration.TimeoutInMillis} ms`,
          ...(Integration.ResponseTransferMode ? [Integration.ResponseTransferMode] : []),
        ]);
      return `${id}: ${[`${Timeout} s`, ...grants, ...served].join(", ")}`;
    });
    expect(functions).toEqual(promised);
  });

  test("every operation is behind the authorizer", () => {
    expect(methods).toHaveLength(promised.length - 1);
    for (const method of methods)
      expect(method).toMatchObject({ AuthorizerId: "ApiBearerKeys", AuthorizationType: "CUSTOM" });
  });

  test("every caller of a function goes through the alias that a deployment moves", () => {
    const [[, authorizer] = []] = ofType("ApiGateway::Authorizer");
    expect(authorizer.AuthorizerUri).toContain("functions/AuthorizeAliaslive/invocations");
    for (const [, { FunctionName }] of ofType("Lambda::Permission"))
      expect(FunctionName).toMatch(/^\w+Aliaslive$/);
  });

  test("each role is one service's alone, and that of a function has no other policies", () => {
    const services: Record<string, string> = {
      ApiRestCloudWatchRole: "apigateway.amazonaws.com",
      RolloutRole: "codedeploy.amazonaws.com",
    };
    for (const [id, role] of ofType("IAM::Role")) {
      const Principal = { Service: services[id] ?? "lambda.amazonaws.com" };
      const trust = [{ Action: "sts:AssumeRole", Effect: "Allow", Principal }];
      expect(role.AssumeRolePolicyDocument.Statement, id).toEqual(trust);
      expect(role).not.toHaveProperty("Policies");
      expect("ManagedPolicyArns" in role, id).toBe(id in services);
    }
  });

  test("every address takes only TLS 1.2 or newer", () => {
    const addresses = [...ofType("ApiGateway::RestApi"), ...ofType("ApiGateway::DomainName")];
    expect(addresses).toHaveLength(environment === everyOption ? 2 : 1);
    for (const [, { EndpointAccessMode, SecurityPolicy }] of addresses) {
      expect(SecurityPolicy).toBe("SecurityPolicy_TLS13_1_2_PQ_2025_09");
      expect(EndpointAccessMode).toBe("STRICT");
    }
  });

  test("no log can hold a key: none has a header, a query, a body or data", () => {
    const logged = Object.values<string>(JSON.parse(stage.AccessLogSetting.Format));
    expect(logged.filter((field) => !harmless.some((known) => known.test(field)))).toEqual([]);
    for (const settings of stage.MethodSettings)
      expect(settings).toMatchObject({ LoggingLevel: "ERROR", DataTraceEnabled: false });
  });

  test("what isn't an operation shares a low limit", () => {
    const [others] = stage.MethodSettings;
    expect(others).toMatchObject({ ThrottlingRateLimit: 10, ThrottlingBurstLimit: 20 });
    expect([others.HttpMethod, others.ResourcePath]).toEqual(["*", "/*"]);
  });

  // Or one environment's failures would set off the alarms of another in its account, and roll
  // its code back.
  test("the metrics that are counted from logs are the environment's own", () => {
    const namespaces = ofType("Logs::MetricFilter").map(
      ([, { MetricTransformations }]) => MetricTransformations[0].MetricNamespace,
    );
    expect(new Set(namespaces)).toEqual(new Set([`PetStoreOrders/${environment.name}`]));
  });

  test("every log expires, even the gateway's own, for which the stage waits", () => {
    const { accessLogRetentionDays, logRetentionDays } = environment;
    const logs = ofType("Logs::LogGroup");
    expect(logs.map(([id, { RetentionInDays }]) => [id, RetentionInDays])).toEqual([
      ["ListOrdersLog", logRetentionDays],
      ["CancelOrderLog", logRetentionDays],
      ["AuthorizeLog", logRetentionDays],
      ["ApiAccessLog", accessLogRetentionDays],
      ["ApiExecutionLog", logRetentionDays],
    ]);
    expect(logs.at(-1)?.[1].LogGroupName).toBe("API-Gateway-Execution-Logs_ApiRest/v1");
    const [whole] = Object.values(template.findResources("AWS::ApiGateway::Stage"));
    expect(whole?.["DependsOn"].map(constructId)).toContain("ApiExecutionLog");
  });

  test("only data, or the account's log role, outlives the stack", () => {
    const kept = Object.entries(all)
      .filter(([, { DeletionPolicy }]) => DeletionPolicy === "Retain")
      .map(([id]) => constructId(id));
    expect(kept.sort()).toEqual(
      environment.keepData
        ? ["ApiAccessLog", "ApiKeys", "AuthorizeLog", "CancelOrderLog", "ListOrdersLog", "Orders"]
        : ["ApiRestAccount", "ApiRestCloudWatchRole"],
    );
  });

  test("an old version of a function stays, which a rollback needs", () => {
    // One that survived a rolled-back update would be identical to the next attempt, which then
    // fails.
    const policies = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" };
    for (const version of Object.values(template.findResources("AWS::Lambda::Version")))
      expect(version).toMatchObject(policies);
  });

  // To CloudFormation another id is another resource: a new table is empty, a new API has a new
  // address.
  test("the resources that must not be replaced keep their logical ids", () => {
    expect(Object.keys(all)).toEqual(
      expect.arrayContaining([
        "OrdersA9B65338",
        "ApiKeys3BB3983D",
        "ApiRest4DEC74FE",
        "ApiRestDeploymentStagev1F506FEE3",
        "ApiBearerKeys15658508",
        "ListOrdersLogADAC8C65",
        "CancelOrderLogC0E28DCE",
        "AuthorizeLog069F59FD",
        "ApiAccessLog713001CC",
        "ApiExecutionLog4D3E3207",
      ]),
    );
  });

  test("no resource depends on itself, which CloudFormation would notice late", () => {
    // CDK looks for circles among properties; a deployment group's alarms are in the UpdatePolicy
    // of an alias.
    const entries = Object.entries(all).map(([id, { UpdatePolicy, ...resource }]) => {
      return [id, { ...resource, Properties: { ...resource.Properties, UpdatePolicy } }];
    });
    expect(() => Template.fromJSON({ Resources: Object.fromEntries(entries) })).not.toThrow();
  });
});
