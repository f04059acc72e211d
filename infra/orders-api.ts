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
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { apiKeyPattern } from "../shared/api-keys.ts";
import type { Environment } from "./environments.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import { answerOtherMethods } from "./mock-error.ts";
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
  private readonly authorizer: TokenAuthorizer;

  constructor(scope: Construct, id: string, { environment, listOrders, cancelOrder, authorize }: OrdersApiProps) {
    super(scope, id);
    const api = this.restApi(environment);
    addGatewayResponses(api);
    this.baseUrl = `https://${api.restApiId}.execute-api.${Stack.of(this).region}.${Stack.of(this).urlSuffix}/${stageName}`;
    this.authorizer = this.bearerKeys(authorize, environment);

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

  private bearerKeys(handler: ServiceFunction, { apiKeyPrefix, authorizerCacheSeconds }: Environment): TokenAuthorizer {
    return new TokenAuthorizer(this, "BearerKeys", {
      handler: handler.live,
      // Anchored, and in syntax that Java and JavaScript share: which dialect the gateway speaks is not documented.
      validationRegex: `^[Bb][Ee][Aa][Rr][Ee][Rr] ${apiKeyPattern(apiKeyPrefix)}$`,
      resultsCacheTtl: Duration.seconds(authorizerCacheSeconds),
    });
  }

  private restApi({ name, throttling, logRetentionDays }: Environment): RestApi {
    const accessLog = new LogGroup(this, "AccessLog", {
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const api = new RestApi(this, "Rest", {
      restApiName: `PetStoreOrders-${name}`,
      endpointTypes: [EndpointType.REGIONAL],
      // The role is one for the whole account and region: it must outlive the stack that happened to set it.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName,
        throttlingRateLimit: throttling.rateLimit,
        throttlingBurstLimit: throttling.burstLimit,
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.custom(accessLogLine),
      },
    });
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
  integrationStatus: "$context.integration.status",
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
