import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { functionList, operations } from "../../infra/stack/function-list.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { constructId, named } from "../helpers/named.ts";
import { rows, templateOf } from "../helpers/synthesise.ts";

/** What each function may do. A new one needs a line. */
const promised = [
  "ListOrders: dynamodb:Scan of Orders.Arn",
  "CancelOrder: dynamodb:UpdateItem of Orders.Arn",
  "Authorize: dynamodb:GetItem of ApiKeys.Arn",
];

/** The access log's fields: of the caller, the request and its outcome. */
const accessLogFields =
  "authorizer.keyId, authorizer.latency, authorizer.requestId, authorizer.status, domainName, " +
  "error.responseType, httpMethod, identity.sourceIp, integration.requestId, " +
  "integration.status, integration.timeToFirstContent, integrationLatency, requestId, " +
  "requestTimeEpoch, resourcePath, responseLatency, responseLength, status, tlsVersion";

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

  test("functions and tables have the sizes and limits of the list and the settings", () => {
    const {
      functionLogLevel,
      listConcurrency,
      ordersStream,
      systemLogLevel,
      tableThroughput,
    } = environment;
    const functions = Object.fromEntries(ofType("Lambda::Function"));
    for (const { id, memorySize, timeoutSeconds } of Object.values(functionList)) {
      const { ReservedConcurrentExecutions } = functions[id];
      const reserved = id === "ListOrders" ? listConcurrency : undefined;
      expect(ReservedConcurrentExecutions, id).toBe(reserved);
      expect(functions[id]).toMatchObject({
        Architectures: ["arm64"],
        LoggingConfig: {
          ApplicationLogLevel: functionLogLevel,
          LogFormat: "JSON",
          SystemLogLevel: systemLogLevel,
        },
        MemorySize: memorySize,
        Timeout: timeoutSeconds,
      });
    }
    const [authorizer] = properties("ApiGateway::Authorizer");
    expect(authorizer.AuthorizerResultTtlInSeconds).toBe(
      environment.authorizerCacheSeconds,
    );
    for (const table of properties("DynamoDB::Table"))
      expect(table.OnDemandThroughput).toEqual({
        MaxReadRequestUnits: tableThroughput.reads,
        MaxWriteRequestUnits: tableThroughput.writes,
      });
    const limits = [
      { rateLimit: 10, burstLimit: 20 },
      ...operations.map(({ name }) => environment.throttling[name]),
    ];
    expect(stage.MethodSettings).toMatchObject(
      limits.map(({ burstLimit, rateLimit }) => ({
        ThrottlingBurstLimit: burstLimit,
        ThrottlingRateLimit: rateLimit,
      })),
    );
    const [orders] = properties("DynamoDB::Table");
    const stream = ordersStream && { StreamViewType: "NEW_AND_OLD_IMAGES" };
    expect(orders.StreamSpecification).toEqual(stream);
  });

  test("only the stage of the API may invoke a function, through its alias", () => {
    const permissions = properties("Lambda::Permission").map(
      ({ FunctionName, Principal, SourceArn }) =>
        `${FunctionName} ${Principal} ${SourceArn.replace(/^.*:ApiRest/, "")}`,
    );
    expect(permissions).toEqual([
      "AuthorizeAliaslive apigateway.amazonaws.com /authorizers/ApiBearerKeys",
      "ListOrdersAliaslive apigateway.amazonaws.com /ApiRestDeploymentStagev1/GET/store/orders",
      "CancelOrderAliaslive apigateway.amazonaws.com /ApiRestDeploymentStagev1/DELETE/store/orders/*",
    ]);
  });

  test("the outputs name the tables and the stream", () => {
    const { ApiKeysTableName, OrdersStreamArn, OrdersTableName } = Object(
      named(template.toJSON()["Outputs"]),
    );
    expect([OrdersTableName.Value, ApiKeysTableName.Value]).toEqual([
      "Orders",
      "ApiKeys",
    ]);
    const stream = environment.ordersStream && { Value: "Orders.StreamArn" };
    expect(OrdersStreamArn).toEqual(stream);
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
      const [, boundary] = (role.PermissionsBoundary ?? "").split(":policy/");
      expect(boundary, id).toBe(environment.permissionsBoundary);
      expect("ManagedPolicyArns" in role, id).toBe(id in services);
    }
  });

  test("no log can hold a key: none has a header, a query, a body or data, and each expires as set", () => {
    const fields = Object.values<string>(JSON.parse(stage.AccessLogSetting.Format));
    const names = fields.map((field) => field.replace("$context.", ""));
    expect(names.sort().join(", ")).toBe(accessLogFields);
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

test("a changed key pattern or cache time is deployed to the stage", () => {
  const deployments = [
    noOption,
    { ...noOption, apiKeyPrefix: "hafen_live" },
    { ...noOption, authorizerCacheSeconds: 16 },
  ].flatMap((environment) =>
    Object.keys(templateOf(environment).findResources("AWS::ApiGateway::Deployment")),
  );
  expect(new Set(deployments).size).toBe(3);
});

test("another account that writes orders may read, place and change one, and no more", () => {
  const [[, orders] = []] = rows(templateOf(everyOption), "AWS::DynamoDB::Table");
  const [{ Action, Principal }, ...others] =
    orders.ResourcePolicy.PolicyDocument.Statement;
  expect(Principal).toEqual({ AWS: "222222222222" });
  expect(Action).toEqual(["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]);
  expect(others).toEqual([]);
});

test("a domain of your own serves the stage below /v1, with the TLS of the API", () => {
  const template = templateOf(everyOption);
  const [[, mapping] = []] = rows(template, "AWS::ApiGateway::BasePathMapping");
  expect(mapping).toMatchObject({ BasePath: "v1", Stage: "ApiRestDeploymentStagev1" });
  const [[, record] = []] = rows(template, "AWS::Route53::RecordSet");
  const { hostedZone, name } = everyOption.domain;
  expect(record).toMatchObject({ HostedZoneId: hostedZone.id, Name: `${name}.` });
  const tls = {
    SecurityPolicy: "SecurityPolicy_TLS13_1_2_PQ_2025_09",
    EndpointAccessMode: "STRICT",
  };
  for (const type of ["DomainName", "RestApi"])
    expect(rows(template, `AWS::ApiGateway::${type}`)[0]?.[1]).toMatchObject(tls);
});

test("the API is regional, and has the gateway's address unless a domain replaces it", () => {
  const domain = { ...everyOption.domain, keepGatewayAddress: true };
  const disabled = [noOption, everyOption, { ...everyOption, domain }].map(
    (environment) => {
      const [[, api] = []] = rows(templateOf(environment), "AWS::ApiGateway::RestApi");
      expect(api.EndpointConfiguration).toEqual({ Types: ["REGIONAL"] });
      return api.DisableExecuteApiEndpoint;
    },
  );
  expect(disabled).toEqual([false, true, false]);
});

test("the web ACL is for the stage", () => {
  const [[, association] = []] = rows(
    templateOf(everyOption),
    "AWS::WAFv2::WebACLAssociation",
  );
  expect(association.WebACLArn).toBe(everyOption.webAclArn);
  expect(association.ResourceArn).toMatch(/ApiRest\/stages\/ApiRestDeploymentStagev1$/);
});

test("an environment without options has nothing that costs money while idle", () => {
  const all = Object.values<{ Type: string }>(templateOf(noOption).toJSON()["Resources"]);
  const services = all.map(({ Type }) => Type.split("::")[1]);
  expect(new Set(services)).toEqual(new Set(freeWhileIdle));
  expect(JSON.stringify(all)).not.toMatch(billedWhileIdle);
});
