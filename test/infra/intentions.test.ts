import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { constructId, named } from "../helpers/named.ts";
import { resources, templateOf } from "../helpers/synthesise.ts";

interface Promises {
  timeoutSeconds: number;
  /** The one action it may take, on tables whose ARNs match. */
  action: string;
  tables: RegExp;
  /** Its route. Undefined for the authorizer, which has none. */
  operation?: string;
  isStreamed?: boolean;
  /** How long the gateway waits for it. */
  gatewaySeconds?: number;
}

/** The promises about each function: a new one needs a row. */
const promised: Record<string, Promises> = {
  ListOrders: {
    timeoutSeconds: 900,
    action: "dynamodb:Scan",
    tables: /^(Orders|Restored\w+Orders\d+)\.Arn$/,
    operation: "GET /store/orders",
    isStreamed: true,
    gatewaySeconds: 900,
  },
  CancelOrder: {
    timeoutSeconds: 10,
    action: "dynamodb:UpdateItem",
    tables: /^(Orders|Restored\w+Orders\d+)\.Arn$/,
    operation: "DELETE /store/orders/{orderId}",
    isStreamed: false,
    gatewaySeconds: 15,
  },
  Authorize: {
    timeoutSeconds: 5,
    action: "dynamodb:GetItem",
    tables: /^(ApiKeys|Restored\w+ApiKeys\d+)\.Arn$/,
  },
};

const templates = [everyOption, noOption].map(
  (environment) => [environment.name, templateOf(environment), environment] as const,
);

/** The fields that the access log may hold: of the caller, the request and its outcome. */
const harmless = [
  /^\$context\.(authorizer\.(keyId|latency|requestId|status)|identity\.sourceIp|tlsVersion)$/,
  /^\$context\.(domainName|httpMethod|requestId|requestTimeEpoch|resourcePath)$/,
  /^\$context\.(error\.responseType|integration\.\w+|integrationLatency|response\w+|status)$/,
];

interface Resource {
  Type: string;
  Properties?: object;
  DeletionPolicy?: string;
  UpdatePolicy?: object;
}

interface Integration {
  TimeoutInMillis: number;
  Uri: string;
  ResponseTransferMode?: string;
}

interface Statement {
  Action: string | string[];
  Resource: string | string[];
  Principal: { Service: string };
}
const statements = (document: unknown) => (named(document) as { Statement: Statement[] }).Statement;

test("the list of functions is the one promised here", () => {
  const listed = Object.values<FunctionEntry>(functionList).map(({ id, operation }) => [
    id,
    operation && `${operation.method} ${operation.path}`,
  ]);
  expect(listed).toEqual(Object.entries(promised).map(([id, { operation }]) => [id, operation]));
});

describe.each(templates)("in the template of %s,", (environmentName, template, environment) => {
  const { accessLogRetentionDays, keepData, logRetentionDays } = environment;
  const all: Record<string, Resource> = template.toJSON()["Resources"];
  const functions = resources(template, "AWS::Lambda::Function");
  const methods = resources(template, "AWS::ApiGateway::Method");
  const [stage = {}] = resources(template, "AWS::ApiGateway::Stage").map(
    ([, properties]) => properties,
  );
  const functionNamed = (name: string) =>
    named(functions.find(([id]) => constructId(id) === name)?.[1]);

  test.each(Object.entries(promised))(
    "%s may do nothing but take one action on its tables and write its own log",
    (name, { action, tables }) => {
      expect(functionNamed(name)).toMatchObject({ Role: `${name}Role.Arn` });
      const role = resources(template, "AWS::IAM::Role").find(
        ([id]) => constructId(id) === `${name}Role`,
      )?.[1];
      expect(role).toBeDefined();
      expect(role).not.toHaveProperty("ManagedPolicyArns");
      expect(role).not.toHaveProperty("Policies");
      const [log, ...others] = resources(template, "AWS::IAM::Policy")
        .filter(([, { Roles }]) => JSON.stringify(named(Roles)).includes(`"${name}Role"`))
        .flatMap(([, { PolicyDocument }]) => statements(PolicyDocument));
      expect(log).toMatchObject({
        Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
        Resource: `${name}Log.Arn`,
      });
      expect(new Set(others.flatMap(({ Action }) => Action))).toEqual(new Set([action]));
      for (const resource of others.flatMap(({ Resource }) => Resource))
        expect(resource).toMatch(tables);
    },
  );

  test.each(Object.entries(promised))("%s times out as promised", (name, { timeoutSeconds }) => {
    expect(functionNamed(name)).toMatchObject({ Timeout: timeoutSeconds });
  });

  test("each role can be taken by one service alone", () => {
    const services: Record<string, string> = {
      ApiRestCloudWatchRole: "apigateway.amazonaws.com",
      RolloutRole: "codedeploy.amazonaws.com",
    };
    for (const [id, { AssumeRolePolicyDocument }] of resources(template, "AWS::IAM::Role")) {
      const Principal = { Service: services[constructId(id)] ?? "lambda.amazonaws.com" };
      const trust = [{ Action: "sts:AssumeRole", Effect: "Allow", Principal }];
      expect(statements(AssumeRolePolicyDocument), id).toEqual(trust);
    }
  });

  const operations = methods.filter(([, method]) => Object(method["Integration"]).Type !== "MOCK");

  test("every operation is behind the authorizer", () => {
    for (const [, method] of operations) {
      expect(named(method["AuthorizerId"])).toBe("ApiBearerKeys");
      expect(method["AuthorizationType"]).toBe("CUSTOM");
    }
  });

  /** The functions that serve operations, each with how the gateway calls it. */
  const integrations = Object.fromEntries(
    operations.map(([, method]) => {
      const integration = named(method["Integration"]) as Integration;
      const name = /functions\/(\w+?)Aliaslive/.exec(integration.Uri)?.[1];
      return [name, integration];
    }),
  );
  const serving = Object.entries(promised).filter(([, { operation }]) => operation);

  test("every operation is served by its function", () => {
    expect(Object.keys(integrations)).toEqual(serving.map(([name]) => name));
  });

  test.each(serving)("the gateway waits for %s as promised", (name, { gatewaySeconds = 0 }) => {
    expect(integrations[name]?.TimeoutInMillis).toBe(gatewaySeconds * 1000);
  });

  test.each(serving)("the gateway streams what %s responds as promised", (name, promises) => {
    const isStreamed = integrations[name]?.ResponseTransferMode === "STREAM";
    expect(isStreamed).toBe(promises.isStreamed);
  });

  test("every caller of a function goes through the alias that a deployment moves", () => {
    const [, authorizer] = resources(template, "AWS::ApiGateway::Authorizer")[0] ?? [];
    expect(named(authorizer?.["AuthorizerUri"])).toContain(
      "functions/AuthorizeAliaslive/invocations",
    );
    const allowed = resources(template, "AWS::Lambda::Permission").map(([, { FunctionName }]) =>
      named(FunctionName),
    );
    for (const name of allowed) expect(name).toMatch(/^\w+Aliaslive$/);
  });

  test("the access log can't hold a key: it has no header, query or body", () => {
    const { Format } = stage["AccessLogSetting"] as { Format: string };
    const logged = Object.values<string>(JSON.parse(Format));
    expect(logged.filter((field) => !harmless.some((known) => known.test(field)))).toEqual([]);
  });

  test("the gateway's own log has errors without data, so that it can't hold a key", () => {
    const settings = stage["MethodSettings"] as {
      LoggingLevel: string;
      DataTraceEnabled: boolean;
    }[];
    for (const { LoggingLevel, DataTraceEnabled } of settings) {
      expect(LoggingLevel).toBe("ERROR");
      expect(DataTraceEnabled).toBe(false);
    }
  });

  // Or one environment's failures would set off the alarms of another in its account, and roll
  // its code back.
  test("the metrics that are counted from logs are the environment's own", () => {
    for (const [id, { MetricTransformations }] of resources(template, "AWS::Logs::MetricFilter")) {
      expect(MetricTransformations, id).toMatchObject([
        { MetricNamespace: `PetStoreOrders/${environmentName}` },
      ]);
    }
  });

  const logs = resources(template, "AWS::Logs::LogGroup");
  const executionLog = logs.find(([id]) => constructId(id) === "ApiExecutionLog");

  test("every log expires when its setting says", () => {
    expect(logs.length).toBe(functions.length + 2);
    for (const [id, { RetentionInDays }] of logs) {
      const days = constructId(id) === "ApiAccessLog" ? accessLogRetentionDays : logRetentionDays;
      expect(RetentionInDays, id).toBe(days);
    }
  });

  test("the stage waits for the gateway's own log, which it would create without an expiry", () => {
    expect(named(executionLog?.[1]["LogGroupName"])).toBe("API-Gateway-Execution-Logs_ApiRest/v1");
    const [whole] = Object.values(template.findResources("AWS::ApiGateway::Stage"));
    expect(whole?.["DependsOn"]).toContain(executionLog?.[0]);
  });

  const kept = Object.entries(all).filter(([, { DeletionPolicy }]) => DeletionPolicy === "Retain");

  test("only data, or the account's log role, outlives the stack", () => {
    // The account's other stacks need its log role and setting, where the stack has made them.
    const ofAccount = ["AWS::ApiGateway::Account", "AWS::IAM::Role"];
    const ofData = ["AWS::DynamoDB::Table", "AWS::Logs::LogGroup"];
    const types = new Set(kept.map(([, { Type }]) => Type));
    expect([...types].sort()).toEqual(keepData ? ofData : ofAccount);
  });

  test("the logs of requests outlive their operation only with keepData", () => {
    const ofRequests = ["ApiAccessLog", ...Object.keys(promised).map((name) => `${name}Log`)];
    const keptLogs = kept.filter(([, { Type }]) => Type === "AWS::Logs::LogGroup");
    const names = keptLogs.map(([id]) => constructId(id)).sort();
    expect(names).toEqual(keepData ? ofRequests.sort() : []);
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
    expect(all).toMatchObject({
      OrdersA9B65338: { Type: "AWS::DynamoDB::Table" },
      ApiKeys3BB3983D: { Type: "AWS::DynamoDB::Table" },
      ApiRest4DEC74FE: { Type: "AWS::ApiGateway::RestApi" },
      ApiRestDeploymentStagev1F506FEE3: { Type: "AWS::ApiGateway::Stage" },
      ApiBearerKeys15658508: { Type: "AWS::ApiGateway::Authorizer" },
      ListOrdersLogADAC8C65: { Type: "AWS::Logs::LogGroup" },
      CancelOrderLogC0E28DCE: { Type: "AWS::Logs::LogGroup" },
      AuthorizeLog069F59FD: { Type: "AWS::Logs::LogGroup" },
      ApiAccessLog713001CC: { Type: "AWS::Logs::LogGroup" },
      ApiExecutionLog4D3E3207: { Type: "AWS::Logs::LogGroup" },
    });
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
