import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import {
  AccessLogFormat,
  AuthorizationType,
  EndpointType,
  type IResource,
  LambdaIntegration,
  type LambdaIntegrationOptions,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { apiKeyPattern } from "../../shared/api-keys.ts";
import type { Environment } from "../environments.ts";
import { ApiDomain } from "./api-domain.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import { answerOtherMethods } from "./other-methods.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface OrdersApiProps {
  environment: Environment;
  listOrders: ServiceFunction;
  cancelOrder: ServiceFunction;
  authorize: ServiceFunction;
}

const stageName = "v1";

/** The HTTP API: the contract's two operations behind the authorizer, and an Error record for everything else. */
export class OrdersApi extends Construct {
  /** The address that the contract's paths are relative to; it ends in `/v1`. */
  readonly baseUrl: string;
  readonly accessLog: LogGroup;
  private readonly authorizer: TokenAuthorizer;
  private readonly apiName: string;

  constructor(scope: Construct, id: string, { environment, listOrders, cancelOrder, authorize }: OrdersApiProps) {
    super(scope, id);
    const { domain, logRetentionDays, name } = environment;
    this.apiName = `PetStoreOrders-${name}`;
    this.accessLog = new LogGroup(this, "AccessLog", {
      retention: logRetentionDays,
      // It tells what a leaked key was used for.
      removalPolicy: environment.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const api = this.restApi(environment);
    addGatewayResponses(api);
    const { region, urlSuffix } = Stack.of(this);
    const host = domain?.name ?? `${api.restApiId}.execute-api.${region}.${urlSuffix}`;
    this.baseUrl = `https://${host}/${stageName}`;
    if (domain)
      new ApiDomain(this, "Domain", { domain, restApi: api, stage: api.deploymentStage, basePath: stageName });
    this.authorizer = this.bearerKeys(api, authorize, environment);

    const store = api.root.addResource("store");
    const orders = store.addResource("orders");
    const order = orders.addResource("{orderId}");
    this.addOperation(orders, "GET", listOrders, { responseTransferMode: ResponseTransferMode.STREAM });
    this.addOperation(order, "DELETE", cancelOrder);

    answerOtherMethods(orders, "method_not_allowed", { Allow: "GET" });
    answerOtherMethods(order, "method_not_allowed", { Allow: "DELETE" });
    for (const resource of [api.root, store, api.root.addResource("{proxy+}")]) {
      answerOtherMethods(resource, "resource_not_found");
    }
  }

  /** What the gateway counts for the stage, a minute at a time. */
  metric(name: "5XXError" | "Count"): Metric {
    return new Metric({
      namespace: "AWS/ApiGateway",
      metricName: name,
      // By name: a reference to the stage would make the functions, which the alarms roll back, wait for themselves.
      dimensionsMap: { ApiName: this.apiName, Stage: stageName },
      statistic: Stats.SUM,
      period: Duration.minutes(1),
    });
  }

  /** Every operation passes through here, so that none can be without the authorizer. */
  private addOperation(
    resource: IResource,
    method: string,
    handler: ServiceFunction,
    options: Pick<LambdaIntegrationOptions, "responseTransferMode"> = {},
  ): void {
    const operation = resource.addMethod(
      method,
      new LambdaIntegration(handler.live, { ...options, allowTestInvoke: false, timeout: integrationTimeout(handler) }),
      { authorizer: this.authorizer, authorizationType: AuthorizationType.CUSTOM },
    );
    Validations.of(operation).acknowledge({
      id: "AwsSolutions-COG4",
      reason: "The contract's clients are programs with API keys, not users of a Cognito pool",
    });
  }

  private bearerKeys(
    api: RestApi,
    handler: ServiceFunction,
    { apiKeyPrefix, authorizerCacheSeconds }: Environment,
  ): TokenAuthorizer {
    // Anchored, and in syntax that Java and JavaScript share: which dialect the gateway speaks is not documented.
    const validationRegex = `^[Bb][Ee][Aa][Rr][Ee][Rr] ${apiKeyPattern(apiKeyPrefix)}$`;
    // A stage serves what was deployed: without a new deployment, other settings would never get there.
    api.latestDeployment?.addToLogicalId({ validationRegex, authorizerCacheSeconds });
    return new TokenAuthorizer(this, "BearerKeys", {
      handler: handler.live,
      validationRegex,
      resultsCacheTtl: Duration.seconds(authorizerCacheSeconds),
    });
  }

  private restApi({ domain, throttling, logRetentionDays }: Environment): RestApi {
    const api = new RestApi(this, "Rest", {
      restApiName: this.apiName,
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: domain !== undefined,
      // The role is one for the whole account and region, and the last stack to be created sets it. Role and setting
      // outlive their stack, so that whichever goes first, the others keep logging.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName,
        throttlingRateLimit: throttling.rateLimit,
        throttlingBurstLimit: throttling.burstLimit,
        // Never INFO: those lines tell a part of the key.
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: AccessLogFormat.custom(accessLogLine),
      },
    });
    // The gateway would create this group by itself, and keep its lines for ever.
    const executionLog = new LogGroup(this, "ExecutionLog", {
      logGroupName: `API-Gateway-Execution-Logs_${api.restApiId}/${stageName}`,
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    api.deploymentStage.node.addDependency(executionLog);
    // RestApi adds an output of its own; ours is BaseUrl.
    api.node.tryRemoveChild("Endpoint");
    acknowledgeFindings(api);
    return api;
  }
}

/** A margin over the function's own limit for its start, up to the gateway's maximum of 15 minutes. */
function integrationTimeout({ timeout }: ServiceFunction): Duration {
  const seconds = timeout?.toSeconds() ?? 3;
  return Duration.seconds(Math.min(seconds + 5, 900));
}

/** No header, query or body: a key must never get into a log. */
const accessLogLine = JSON.stringify({
  requestId: "$context.requestId",
  lambdaRequestId: "$context.integration.requestId",
  keyId: "$context.authorizer.keyId",
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

function acknowledgeFindings(api: RestApi): void {
  Validations.of(api).acknowledge({
    id: "AwsSolutions-APIG2",
    reason: "No operation takes a query or a body, and an order id that is no int64 is 404 by contract, not 400",
  });
  Validations.of(api.deploymentStage).acknowledge({
    id: "AwsSolutions-APIG3",
    reason: "A web ACL bills while idle; the authorizer's expression and the stage's throttling hold junk off",
  });
  Validations.of(api.node.findChild("CloudWatchRole")).acknowledge({
    id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]`,
    reason: "The policy AWS keeps for this one role, which is the account's and may write any API's log",
  });
}
