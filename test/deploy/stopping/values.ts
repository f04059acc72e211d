const stage = "Api/Rest/DeploymentStage.v1";
const unauthorized = "Api/Rest/UNAUTHORIZED.ResponseTemplates";
const otherMethod = "Api/Rest/Default/store/orders/ANY.Integration.IntegrationResponses.0";
const statements = "CancelOrderRole/DefaultPolicy.PolicyDocument.Statement";
const allowsAll = { Effect: "Allow", Action: "*", Resource: "*" };

/** Values of a single property that stop a deployment. */
export const stoppingValues: [title: string, path: string, value: unknown][] = [
  [
    "a method is no longer throttled",
    `${stage}.MethodSettings.0.ThrottlingRateLimit`,
    undefined,
  ],
  ["a method serves almost no one", `${stage}.MethodSettings.0.ThrottlingRateLimit`, 0.001],
  ["bodies are logged", `${stage}.MethodSettings.0.DataTraceEnabled`, true],
  ["the access log is switched off", `${stage}.AccessLogSetting`, undefined],
  [
    "the authorizer reads another header",
    "Api/BearerKeys.IdentitySource",
    "method.request.header.X-Key",
  ],
  ["the authorizer's type changes", "Api/BearerKeys.Type", "REQUEST"],
  [
    "accepted keys are cached for an hour",
    "Api/BearerKeys.AuthorizerResultTtlInSeconds",
    3600,
  ],
  [
    "the authorizer matches other keys",
    "Api/BearerKeys.IdentityValidationExpression",
    ".*",
  ],
  [
    "a route loses its authorizer",
    "Api/Rest/Default/store/orders/GET.AuthorizationType",
    "NONE",
  ],
  ["the API becomes private", "Api/Rest.EndpointConfiguration.Types.0", "PRIVATE"],
  [
    "a gateway response shows AWS's own message",
    `${unauthorized}.application/json`,
    '{"code":"unauthorized","message":"$context.error.message","status":401}',
  ],
  [
    "an error has another code",
    `${unauthorized}.application/json`,
    '{"code":"denied","message":"Missing or invalid API key","status":401}',
  ],
  [
    "a gateway response is no longer an Error record",
    `${unauthorized}.application/json`,
    "null",
  ],
  [
    "an Allow header shows part of the request",
    `${otherMethod}.ResponseParameters`,
    {
      "method.response.header.Allow": "method.request.path.x",
      "method.response.header.Cache-Control": "'no-store'",
    },
  ],
  ["the base address changes", "Outputs.BaseUrl.Value", "https://example.com/v1"],
  ["the DNS record moves to another zone", "Api/Domain/Record.HostedZoneId", "Z1"],
  [
    "a Host header may differ from the name of the TLS connection",
    "Api/Rest.EndpointAccessMode",
    "BASIC",
  ],
  [
    "a function no longer finds its table",
    "CancelOrder.Environment.Variables.ORDERS_TABLE",
    undefined,
  ],
  ["all variables of a function are removed", "CancelOrder.Environment", undefined],
  [
    "a variable steers the runtime",
    "CancelOrder.Environment.Variables.LD_PRELOAD",
    "/tmp/other.so",
  ],
  [
    "a variable's value comes from Parameter Store",
    "CancelOrder.Environment.Variables.LEVEL",
    "{{resolve:ssm:level}}",
  ],
  ["the canary goes for good", "CancelOrder/Aliaslive.UpdatePolicy", undefined],
  ["a text comes from Parameter Store", "Api/Rest.Description", "{{resolve:ssm:text}}"],
  [
    "a text comes from another stack",
    "Api/Rest.Description",
    { "Fn::ImportValue": "Text" },
  ],
  ["a function is cut short", "CancelOrder.Timeout", 1],
  ["an older runtime runs a function", "CancelOrder.Runtime", "nodejs20.x"],
  ["code comes from another bucket", "CancelOrder.Code.S3Bucket", "others"],
  ["a function may run no request", "ListOrders.ReservedConcurrentExecutions", 0],
  ["a role may act on everything", `${statements}.1.Resource`, "*"],
  [
    "a role gains an action",
    `${statements}.1.Action`,
    ["dynamodb:UpdateItem", "dynamodb:Scan"],
  ],
  [
    "a role gains a managed policy",
    "CancelOrderRole.ManagedPolicyArns",
    ["arn:aws:iam::aws:policy/AdministratorAccess"],
  ],
  [
    "a role gains an inline policy",
    "CancelOrderRole.Policies",
    [{ PolicyName: "own", PolicyDocument: { Statement: [allowsAll] } }],
  ],
  [
    "a role loses its permissions boundary",
    "CancelOrderRole.PermissionsBoundary",
    undefined,
  ],
  [
    "the stream of the orders table is switched off",
    "Orders.StreamSpecification",
    undefined,
  ],
  [
    "the table of keys has a stream",
    "ApiKeys.StreamSpecification",
    { StreamViewType: "NEW_AND_OLD_IMAGES" },
  ],
  [
    "one of two writing accounts is removed",
    "Orders.ResourcePolicy.PolicyDocument.Statement.0.Principal.AWS",
    ["222222222222"],
  ],
  [
    "orders expire",
    "Orders.TimeToLiveSpecification",
    { AttributeName: "shipDate", Enabled: true },
  ],
  [
    "the key of orders gets another type",
    "Orders.AttributeDefinitions.0.AttributeType",
    "S",
  ],
  [
    "a deployment that fails would delete a table",
    "Orders.DeletionPolicy",
    "RetainExceptOnCreate",
  ],
  ["a table loses its throughput limit", "Orders.OnDemandThroughput", undefined],
  ["a log is kept for a shorter time", "CancelOrderLog.RetentionInDays", 1],
  ["an alarm's limit is out of reach", "Alarms/CancelSlow.Threshold", 1e9],
  ["an alarm notifies no one", "Alarms/CancelSlow.AlarmActions", undefined],
  ["an alarm watches another metric", "Alarms/CancelSlow.MetricName", "Duration2"],
  [
    "an alarm's expression changes",
    "Alarms/KeysRejected.Metrics.0.Expression",
    "0 * failed",
  ],
  ["a metric counts other lines", "LogMetrics/ListsCutOff.FilterPattern", "x"],
  ["an output is removed", "Outputs.AlarmsTopicArn", undefined],
  [
    "an output is exported under another name",
    "Outputs.AlarmsTopicArn.Export",
    { Name: "x" },
  ],
];
