import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { functionList, operations } from "../../infra/stack/function-list.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { constructId, named } from "../helpers/named.ts";
import { firstOf, rows, templateOf } from "../helpers/synthesise.ts";

/** The limits and permissions of each function. A new one needs a line. */
const promised = [
  "ListOrders: 1024 MB, 900 s, nodejs24.x, arm64, JSON, dynamodb:Scan of Orders.Arn",
  "CancelOrder: 512 MB, 10 s, nodejs24.x, arm64, JSON, dynamodb:UpdateItem of Orders.Arn",
  "Authorize: 512 MB, 5 s, nodejs24.x, arm64, JSON, dynamodb:GetItem of ApiKeys.Arn",
];

/** The access log's fields: of the caller, the request and its outcome. */
const accessLogFields =
  "requestId: requestId, lambdaRequestId: integration.requestId, keyId: authorizer.keyId, " +
  "sourceIp: identity.sourceIp, domainName: domainName, tlsVersion: tlsVersion, " +
  "method: httpMethod, resource: resourcePath, status: status, responseType: error.responseType, " +
  "responseLength: responseLength, responseLatency: responseLatency, " +
  "integrationLatency: integrationLatency, timeToFirstContent: integration.timeToFirstContent, " +
  "integrationStatus: integration.status, authorizerRequestId: authorizer.requestId, " +
  "authorizerLatency: authorizer.latency, authorizerStatus: authorizer.status, " +
  "time: requestTimeEpoch";

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
  const stage = firstOf(template, "AWS::ApiGateway::Stage");

  test("gateway responses are made one after another, within ten calls a second", () => {
    const responses = template.findResources("AWS::ApiGateway::GatewayResponse");
    const earlier = Object.keys(responses).slice(0, -1);
    const awaited = Object.values(responses).map(({ DependsOn }) => DependsOn);
    expect(awaited).toEqual([undefined, ...earlier.map((id) => [id])]);
  });

  test("each function has its size, may take its one action, and else only write its own log", () => {
    const functions = ofType("Lambda::Function").map(([id, lambda]) => {
      const { Architectures, LoggingConfig, MemorySize, Role, Runtime, Timeout } = lambda;
      expect(Role).toBe(`${id}Role.Arn`);
      expect(LoggingConfig.LogGroup).toBe(`${id}Log`);
      const [log, ...others] = properties("IAM::Policy").flatMap(
        ({ PolicyDocument, Roles }) =>
          Roles.includes(`${id}Role`) ? PolicyDocument.Statement : [],
      );
      expect(log).toMatchObject({
        Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
        Resource: `${id}Log.Arn`,
      });
      const grants = others.map(({ Action, Resource }) => `${Action} of ${Resource}`);
      const parts = [Runtime, ...Architectures, LoggingConfig.LogFormat, ...grants];
      return `${id}: ${MemorySize} MB, ${Timeout} s, ${parts.join(", ")}`;
    });
    expect(functions).toEqual(promised);
  });

  test("each operation has its limits, and requests to none have their own", () => {
    const limits = operations.map(({ method, name, path }) => {
      const { burstLimit, rateLimit } = environment.throttling[name];
      return `${method} /${path.replaceAll("/", "~1")}: ${rateLimit}, ${burstLimit}`;
    });
    const settings: Record<string, string>[] = stage.MethodSettings;
    const set = settings.map(
      ({ HttpMethod, ResourcePath, ThrottlingBurstLimit, ThrottlingRateLimit }) =>
        `${HttpMethod} ${ResourcePath}: ${ThrottlingRateLimit}, ${ThrottlingBurstLimit}`,
    );
    expect(set).toEqual(["* /*: 10, 20", ...limits]);
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

  test("the description names the environment, and the outputs no more than the address, the tables, the stream and the topic", () => {
    const { Description, Outputs } = template.toJSON();
    // The comparison with a saved template goes by it.
    expect(Description).toBe(`Pet store orders service, ${environment.name}`);
    expect(named(Outputs)).toEqual({
      BaseUrl: {
        Value: environment.domain
          ? "https://orders.eu.example.com/v1"
          : "https://ApiRest.execute-api.AWS::Region.AWS::URLSuffix/v1",
      },
      ...(environment.alarms && { AlarmsTopicArn: { Value: "AlarmsTopic" } }),
      OrdersTableName: { Value: "Orders" },
      ApiKeysTableName: { Value: "ApiKeys" },
      ...(environment.ordersStream && { OrdersStreamArn: { Value: "Orders.StreamArn" } }),
    });
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
    const fields = Object.entries<string>(JSON.parse(stage.AccessLogSetting.Format));
    const texts = fields.map(
      ([name, value]) => `${name}: ${value.replace("$context.", "")}`,
    );
    expect(texts.join(", ")).toBe(accessLogFields);
    for (const settings of stage.MethodSettings)
      expect(settings).toMatchObject({ LoggingLevel: "ERROR", DataTraceEnabled: false });
    for (const [id, { RetentionInDays }] of ofType("Logs::LogGroup")) {
      const { accessLogRetentionDays, logRetentionDays } = environment;
      const days = id === "ApiAccessLog" ? accessLogRetentionDays : logRetentionDays;
      expect(RetentionInDays, id).toBe(days);
    }
  });

  test("the execution log is there before the stage, which would make one of its name without an end", () => {
    const { ApiExecutionLog } = Object.fromEntries(ofType("Logs::LogGroup"));
    expect(ApiExecutionLog.LogGroupName).toBe("API-Gateway-Execution-Logs_ApiRest/v1");
    const { DependsOn } = all["ApiRestDeploymentStagev1F506FEE3"] ?? {};
    expect(DependsOn?.map(constructId)).toContain("ApiExecutionLog");
  });

  test("the gateway's own responses declare what they send, without which it takes none", () => {
    const headersOf = (responses?: Record<string, object>[]) =>
      responses?.map(({ ResponseParameters = {}, StatusCode }) => [
        StatusCode,
        ...Object.keys(ResponseParameters),
      ]);
    for (const { Integration, MethodResponses } of properties("ApiGateway::Method"))
      expect(headersOf(MethodResponses)).toEqual(
        headersOf(Integration.IntegrationResponses),
      );
  });

  test("only data, or the account's log role, outlives the stack", () => {
    const kept = Object.keys(all).filter((id) => all[id]?.DeletionPolicy === "Retain");
    expect(kept.map(constructId).sort().join(", ")).toBe(
      environment.keepData
        ? "ApiAccessLog, ApiKeys, AuthorizeLog, CancelOrderLog, ListOrdersLog, Orders"
        : "ApiRestAccount, ApiRestCloudWatchRole",
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
    const ids =
      "OrdersA9B65338 ApiKeys3BB3983D ApiRest4DEC74FE ApiRestDeploymentStagev1F506FEE3 ApiBearerKeys15658508 ListOrdersLogADAC8C65 CancelOrderLogC0E28DCE AuthorizeLog069F59FD ApiAccessLog713001CC ApiExecutionLog4D3E3207";
    expect(Object.keys(all)).toEqual(expect.arrayContaining(ids.split(" ")));
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

test("a domain of your own serves the stage of the regional API below /v1, with its TLS", () => {
  const template = templateOf(everyOption);
  const mapping = firstOf(template, "AWS::ApiGateway::BasePathMapping");
  expect(mapping).toMatchObject({ BasePath: "v1", Stage: "ApiRestDeploymentStagev1" });
  const api = firstOf(template, "AWS::ApiGateway::RestApi");
  expect(api.EndpointConfiguration).toEqual({ Types: ["REGIONAL"] });
  const record = firstOf(template, "AWS::Route53::RecordSet");
  const { certificateArn, hostedZone, name } = everyOption.domain;
  expect(record).toMatchObject({
    HostedZoneId: hostedZone.id,
    Name: `${name}.`,
    Type: "A",
    AliasTarget: { DNSName: "ApiDomainName.RegionalDomainName" },
  });
  const tls = {
    SecurityPolicy: "SecurityPolicy_TLS13_1_2_PQ_2025_09",
    EndpointAccessMode: "STRICT",
  };
  expect(firstOf(template, "AWS::ApiGateway::DomainName")).toMatchObject({
    DomainName: name,
    RegionalCertificateArn: certificateArn,
  });
  for (const type of ["DomainName", "RestApi"])
    expect(firstOf(template, `AWS::ApiGateway::${type}`)).toMatchObject(tls);
});

test("the dashboard has the stack's name, and graphs of what each minute brought", () => {
  const dashboard = firstOf(templateOf(everyOption), "AWS::CloudWatch::Dashboard");
  expect(dashboard.DashboardName).toBe("PetStoreOrders-everything");
  const { widgets } = JSON.parse(dashboard.DashboardBody);
  type Graph = { properties: Record<string, unknown>; width: number };
  const graphs = widgets.map(({ properties, width }: Graph) => {
    const { metrics, period, title } = properties;
    return `${title}, ${width} wide, each ${period} s: ${JSON.stringify(metrics)}`;
  });
  expect(
    graphs.join("\n"),
  ).toBe(`Requests, 8 wide, each 60 s: [["AWS/ApiGateway","Count","ApiName","PetStoreOrders-everything","Stage","v1",{"stat":"Sum"}],["AWS/ApiGateway","4XXError","ApiName","PetStoreOrders-everything","Stage","v1",{"stat":"Sum"}],["AWS/ApiGateway","5XXError","ApiName","PetStoreOrders-everything","Stage","v1",{"stat":"Sum"}]]
Outcomes, 8 wide, each 60 s: [["PetStoreOrders/every-option","OrdersListed",{"stat":"Sum"}],["PetStoreOrders/every-option","OrdersCancelled",{"stat":"Sum"}],["PetStoreOrders/every-option","ListsCutOff",{"stat":"Sum"}]]
Rejected, by code, 8 wide, each 60 s: [[{"expression":"SEARCH('{PetStoreOrders/every-option,Code} MetricName=\\"CancelsRejected\\"', 'Sum', 60)"}],["PetStoreOrders/every-option","KeysRejected",{"stat":"Sum"}]]
Slowest 1 %, ms, 8 wide, each 60 s: [["AWS/Lambda","Duration","FunctionName","CancelOrder","Resource","CancelOrder:live",{"label":"cancel","stat":"p99"}],["PetStoreOrders/every-option","ListFirstPage",{"label":"list, first page","stat":"p99"}],["AWS/Lambda","Duration","FunctionName","Authorize","Resource","Authorize:live",{"label":"authorize","stat":"p99"}]]
Throttled, 8 wide, each 60 s: [["AWS/Lambda","Throttles","FunctionName","ListOrders",{"label":"ListOrders","stat":"Sum"}],["AWS/DynamoDB","ThrottledRequests","Operation","Scan","TableName","Orders",{"label":"ListOrders's table","stat":"Sum"}],["AWS/Lambda","Throttles","FunctionName","CancelOrder",{"label":"CancelOrder","stat":"Sum"}],["AWS/DynamoDB","ThrottledRequests","Operation","UpdateItem","TableName","Orders",{"label":"CancelOrder's table","stat":"Sum"}],["AWS/Lambda","Throttles","FunctionName","Authorize",{"label":"Authorize","stat":"Sum"}],["AWS/DynamoDB","ThrottledRequests","Operation","GetItem","TableName","ApiKeys",{"label":"Authorize's table","stat":"Sum"}]]
ListOrders by version: Invocations, 8 wide, each 60 s: [[{"expression":"SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName=\\"Invocations\\" FunctionName=\\"ListOrders\\"', 'Sum', 60)"}]]
CancelOrder by version: Invocations, 8 wide, each 60 s: [[{"expression":"SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName=\\"Invocations\\" FunctionName=\\"CancelOrder\\"', 'Sum', 60)"}]]
Authorize by version: Invocations, 8 wide, each 60 s: [[{"expression":"SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName=\\"Invocations\\" FunctionName=\\"Authorize\\"', 'Sum', 60)"}]]
ListOrders by version: Errors, 8 wide, each 60 s: [[{"expression":"SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName=\\"Errors\\" FunctionName=\\"ListOrders\\"', 'Sum', 60)"}]]
CancelOrder by version: Errors, 8 wide, each 60 s: [[{"expression":"SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName=\\"Errors\\" FunctionName=\\"CancelOrder\\"', 'Sum', 60)"}]]
Authorize by version: Errors, 8 wide, each 60 s: [[{"expression":"SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName=\\"Errors\\" FunctionName=\\"Authorize\\"', 'Sum', 60)"}]]
ListOrders by version: Duration, 8 wide, each 60 s: [[{"expression":"SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName=\\"Duration\\" FunctionName=\\"ListOrders\\"', 'p99', 60)"}]]
CancelOrder by version: Duration, 8 wide, each 60 s: [[{"expression":"SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName=\\"Duration\\" FunctionName=\\"CancelOrder\\"', 'p99', 60)"}]]
Authorize by version: Duration, 8 wide, each 60 s: [[{"expression":"SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName=\\"Duration\\" FunctionName=\\"Authorize\\"', 'p99', 60)"}]]`);
});

test("the web ACL is for the stage", () => {
  const template = templateOf(everyOption);
  expect(firstOf(template, "AWS::WAFv2::WebACLAssociation")).toMatchObject({
    WebACLArn: everyOption.webAclArn,
    ResourceArn: expect.stringMatching(/ApiRest\/stages\/ApiRestDeploymentStagev1$/),
  });
});

test("an environment without options has nothing that costs money while idle", () => {
  const all = Object.values<{ Type: string }>(templateOf(noOption).toJSON()["Resources"]);
  const services = all.map(({ Type }) => Type.split("::")[1]);
  expect(new Set(services)).toEqual(new Set(freeWhileIdle));
  expect(JSON.stringify(all)).not.toMatch(billedWhileIdle);
});
