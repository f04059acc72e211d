import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { functionList, operations } from "../../infra/stack/function-list.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { constructId } from "../helpers/named.ts";
import { rows, templateOf } from "../helpers/synthesise.ts";

/** What each function may do. A new one needs a line. */
const promised = [
  "ListOrders: dynamodb:Scan of Orders.Arn",
  "CancelOrder: dynamodb:UpdateItem of Orders.Arn",
  "Authorize: dynamodb:GetItem of ApiKeys.Arn",
];

/** The fields that the access log may hold: of the caller, the request and its outcome. */
const harmless = [
  /^\$context\.(authorizer\.(keyId|latency|requestId|status)|identity\.sourceIp|tlsVersion)$/,
  /^\$context\.(domainName|httpMethod|requestId|requestTimeEpoch|resourcePath)$/,
  /^\$context\.(error\.responseType|integration\.\w+|integrationLatency|response\w+|status)$/,
];

/** The services that take the roles of no function. */
const services: Record<string, string> = {
  ApiRestCloudWatchRole: "apigateway.amazonaws.com",
  RolloutRole: "codedeploy.amazonaws.com",
};

const freeWhileIdle = ["ApiGateway", "DynamoDB", "IAM", "Lambda", "Logs"];

// A metric with a default value costs money in every month; the header Cache-Control doesn't.
const billedWhileIdle =
  /Cache(?!-Control)|DefaultValue|KmsKey|MetricsEnabled|Provisioned|Replica|Snap|Tracing/;

interface Resource {
  Type: string;
  DependsOn?: string[];
  Properties?: object;
  DeletionPolicy?: string;
  UpdatePolicy?: object;
}

describe.each([everyOption, noOption])("in the template of $name,", (environment) => {
  const template = templateOf(environment);
  const all: Record<string, Resource> = template.toJSON()["Resources"];
  const ofType = (type: string) => rows(template, `AWS::${type}`);
  const properties = (type: string) => ofType(type).map(([, one]) => one);
  const [stage] = properties("ApiGateway::Stage");

  test("gateway responses are made one after another, within ten calls a second", () => {
    const responses = Object.entries(all).filter(
      ([, { Type }]) => Type === "AWS::ApiGateway::GatewayResponse",
    );
    const before = responses.map(([id]) => [id]).slice(0, -1);
    expect(responses.map(([, { DependsOn = [] }]) => DependsOn)).toEqual([[], ...before]);
  });

  test("each function may take its one action, and else only write its own log", () => {
    const functions = ofType("Lambda::Function").map(([id, { Role }]) => {
      expect(Role).toBe(`${id}Role.Arn`);
      const [log, ...others] = properties("IAM::Policy").flatMap(
        ({ PolicyDocument, Roles }) =>
          Roles.includes(`${id}Role`) ? PolicyDocument.Statement : [],
      );
      expect(log).toMatchObject({
        Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
        Resource: `${id}Log.Arn`,
      });
      const grants = others.map(({ Action, Resource }) => `${Action} of ${Resource}`);
      return `${id}: ${grants.join(", ")}`;
    });
    expect(functions).toEqual(promised);
  });

  test("only constant responses need no key", () => {
    const types = properties("ApiGateway::Method").map(
      ({ AuthorizationType, Integration }) => `${Integration.Type} ${AuthorizationType}`,
    );
    expect(new Set(types)).toEqual(new Set(["AWS_PROXY CUSTOM", "MOCK NONE"]));
  });

  test("the gateway outwaits each operation's function, up to its own 15 minutes", () => {
    const waits = properties("ApiGateway::Method").flatMap(
      ({ Integration }) => Integration.TimeoutInMillis ?? [],
    );
    const timeouts = operations.map(({ name }) => functionList[name].timeoutSeconds);
    expect(waits).toEqual(timeouts.map((timeout) => Math.min(timeout + 5, 900) * 1000));
  });

  test("each role is one service's alone, and that of a function has no other policies", () => {
    for (const [id, role] of ofType("IAM::Role")) {
      const Principal = { Service: services[id] ?? "lambda.amazonaws.com" };
      const trust = [{ Action: "sts:AssumeRole", Effect: "Allow", Principal }];
      expect(role.AssumeRolePolicyDocument.Statement, id).toEqual(trust);
      expect(role).not.toHaveProperty("Policies");
      expect("ManagedPolicyArns" in role, id).toBe(id in services);
    }
  });

  test("no log can hold a key: none has a header, a query, a body or data, and each expires as set", () => {
    const logged = Object.values<string>(JSON.parse(stage.AccessLogSetting.Format));
    expect(
      logged.filter((field) => !harmless.some((known) => known.test(field))),
    ).toEqual([]);
    for (const settings of stage.MethodSettings)
      expect(settings).toMatchObject({ LoggingLevel: "ERROR", DataTraceEnabled: false });
    for (const [id, { RetentionInDays }] of ofType("Logs::LogGroup")) {
      const { accessLogRetentionDays, logRetentionDays } = environment;
      const days = id === "ApiAccessLog" ? accessLogRetentionDays : logRetentionDays;
      expect(RetentionInDays, id).toBe(days);
    }
  });

  test("the stage waits for its execution log, which the gateway would make without an end", () => {
    const [[, { LogGroupName }] = []] = ofType("Logs::LogGroup").filter(
      ([id]) => id === "ApiExecutionLog",
    );
    expect(LogGroupName).toBe("API-Gateway-Execution-Logs_ApiRest/v1");
    const [{ DependsOn } = {}] = Object.values(
      template.findResources("AWS::ApiGateway::Stage"),
    );
    expect(DependsOn).toContain("ApiExecutionLog4D3E3207");
  });

  test("only data, or the account's log role, outlives the stack", () => {
    const kept = Object.keys(all).filter((id) => all[id]?.DeletionPolicy === "Retain");
    expect(kept.map(constructId).sort()).toEqual(
      environment.keepData
        ? [
            "ApiAccessLog",
            "ApiKeys",
            "AuthorizeLog",
            "CancelOrderLog",
            "ListOrdersLog",
            "Orders",
          ]
        : ["ApiRestAccount", "ApiRestCloudWatchRole"],
    );
  });

  test("an old version of a function stays, which a rollback needs", () => {
    // One that survived a rolled-back update would be identical to the next attempt, which then
    // fails.
    for (const version of Object.values(template.findResources("AWS::Lambda::Version")))
      expect(version).toMatchObject({
        DeletionPolicy: "RetainExceptOnCreate",
        UpdateReplacePolicy: "Retain",
      });
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
    expect(() =>
      Template.fromJSON({ Resources: Object.fromEntries(entries) }),
    ).not.toThrow();
  });
});

test("a domain of your own serves the stage below /v1, with the TLS of the API", () => {
  const template = templateOf(everyOption);
  const [[, mapping] = []] = rows(template, "AWS::ApiGateway::BasePathMapping");
  expect(mapping).toMatchObject({ BasePath: "v1", Stage: "ApiRestDeploymentStagev1" });
  const tls = {
    SecurityPolicy: "SecurityPolicy_TLS13_1_2_PQ_2025_09",
    EndpointAccessMode: "STRICT",
  };
  for (const type of ["DomainName", "RestApi"])
    expect(rows(template, `AWS::ApiGateway::${type}`)[0]?.[1]).toMatchObject(tls);
});

test("an environment without options has nothing that costs money while idle", () => {
  const all = Object.values<{ Type: string }>(templateOf(noOption).toJSON()["Resources"]);
  const services = all.map(({ Type }) => Type.split("::")[1]);
  expect(new Set(services)).toEqual(new Set(freeWhileIdle));
  expect(JSON.stringify(all)).not.toMatch(billedWhileIdle);
});
