import { Duration, Stack, Validations } from "aws-cdk-lib";
import {
  AuthorizationType,
  type IResource,
  LambdaIntegration,
  type LambdaIntegrationOptions,
  ResponseTransferMode,
  type RestApi,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { apiKeyPattern } from "../../shared/api-keys.ts";
import type { Environment } from "../environments.ts";
import { ApiDomain } from "./api-domain.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import { rejectOtherMethods } from "./reject-other-methods.ts";
import type { ServiceFunction } from "./service-function.ts";
import { StagedRestApi, stageName } from "./staged-rest-api.ts";

export interface OrdersApiProps {
  environment: Environment;
  listOrders: ServiceFunction;
  cancelOrder: ServiceFunction;
  authorize: ServiceFunction;
}

/** The HTTP API: the contract's two operations behind the authorizer, and an Error record for everything else. */
export class OrdersApi extends Construct {
  /** The address that the contract's paths are relative to; it ends in `/v1`. */
  readonly baseUrl: string;
  readonly accessLog: LogGroup;
  readonly #authorizer: TokenAuthorizer;
  readonly #apiName: string;

  constructor(scope: Construct, id: string, { environment, listOrders, cancelOrder, authorize }: OrdersApiProps) {
    super(scope, id);
    const { domain, stackName } = environment;
    this.#apiName = stackName;
    const api = new StagedRestApi(this, "Rest", environment);
    this.accessLog = api.accessLog;
    addGatewayResponses(api);
    const { region, urlSuffix } = Stack.of(this);
    const host = domain?.name ?? `${api.restApiId}.execute-api.${region}.${urlSuffix}`;
    this.baseUrl = `https://${host}/${stageName}`;
    if (domain)
      new ApiDomain(this, "Domain", { domain, restApi: api, stage: api.deploymentStage, basePath: stageName });
    this.#authorizer = this.#bearerKeys(api, authorize, environment);

    const store = api.root.addResource("store");
    const orders = store.addResource("orders");
    const order = orders.addResource("{orderId}");
    this.#addOperation(orders, "GET", listOrders, { responseTransferMode: ResponseTransferMode.STREAM });
    this.#addOperation(order, "DELETE", cancelOrder);

    rejectOtherMethods(orders, "method_not_allowed", { Allow: "GET" });
    rejectOtherMethods(order, "method_not_allowed", { Allow: "DELETE" });
    for (const resource of [api.root, store, api.root.addResource("{proxy+}")]) {
      rejectOtherMethods(resource, "resource_not_found");
    }
  }

  /** What the gateway counts for the stage, a minute at a time. */
  metric(name: "5XXError" | "Count"): Metric {
    return new Metric({
      namespace: "AWS/ApiGateway",
      metricName: name,
      // By name: a reference to the stage would make the functions, which the alarms roll back, wait for themselves.
      dimensionsMap: { ApiName: this.#apiName, Stage: stageName },
      statistic: Stats.SUM,
      period: Duration.minutes(1),
    });
  }

  /** Every operation passes through here, so that none can be without the authorizer. */
  #addOperation(
    resource: IResource,
    method: string,
    handler: ServiceFunction,
    options: Pick<LambdaIntegrationOptions, "responseTransferMode"> = {},
  ): void {
    const operation = resource.addMethod(
      method,
      new LambdaIntegration(handler.live, { ...options, allowTestInvoke: false, timeout: integrationTimeout(handler) }),
      { authorizer: this.#authorizer, authorizationType: AuthorizationType.CUSTOM },
    );
    Validations.of(operation).acknowledge({
      id: "AwsSolutions-COG4",
      reason: "The contract's clients are programs with API keys, not users of a Cognito pool",
    });
  }

  #bearerKeys(
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
}

/** A margin over the function's own limit for its start, up to the gateway's maximum of 15 minutes. */
function integrationTimeout({ timeout }: ServiceFunction): Duration {
  const seconds = timeout?.toSeconds() ?? 3;
  return Duration.seconds(Math.min(seconds + 5, 900));
}
