import { Duration, Stack, Validations } from "aws-cdk-lib";
import {
  AuthorizationType,
  type IResource,
  LambdaIntegration,
  ResponseTransferMode,
  type RestApi,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { apiKeyPattern } from "../../shared/api-keys.ts";
import type { Environment } from "../environments.ts";
import { ApiDomain } from "./api-domain.ts";
import { sum } from "./aws-metrics.ts";
import { type Operation, operations } from "./function-list.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import { rejectOtherMethods } from "./reject-other-methods.ts";
import type { ServiceFunction, ServiceFunctions } from "./service-function.ts";
import { StagedRestApi, stageName } from "./staged-rest-api.ts";

/** Every path at which the gateway itself rejects what isn't an operation. `{proxy+}` is any path not listed. */
const rejectingPaths: string[] = ["/", "/store", ...new Set(operations.map(({ path }) => path)), "/{proxy+}"];

/** The HTTP API: its operations behind the authorizer, and an Error record for everything else. */
export class OrdersApi extends Construct {
  /** The base address, which clients put before `/store/orders`. It ends in `/v1`. */
  readonly baseUrl: string;
  readonly accessLog: LogGroup;
  readonly #authorizer: TokenAuthorizer;
  readonly #apiName: string;

  constructor(scope: Construct, id: string, environment: Environment, functions: ServiceFunctions) {
    super(scope, id);
    const { domain, stackName } = environment;
    this.#apiName = stackName;
    const restApi = new StagedRestApi(this, "Rest", environment);
    this.accessLog = restApi.accessLog;
    addGatewayResponses(restApi);
    const { region, urlSuffix } = Stack.of(this);
    const host = domain?.name ?? `${restApi.restApiId}.execute-api.${region}.${urlSuffix}`;
    this.baseUrl = `https://${host}/${stageName}`;
    if (domain) new ApiDomain(this, "Domain", domain, restApi);
    this.#authorizer = this.#bearerKeys(restApi, functions.authorize, environment);

    const resource = (path: string): IResource => restApi.root.resourceForPath(path);
    for (const lambda of Object.values(functions)) {
      const { operation } = lambda.entry;
      if (operation) this.#addOperation(resource(operation.path), operation, lambda);
    }
    for (const path of rejectingPaths) {
      const methods = operations.filter((operation) => operation.path === path).map(({ method }) => method);
      if (methods.length > 0) rejectOtherMethods(resource(path), "method_not_allowed", { Allow: methods.join(", ") });
      else rejectOtherMethods(resource(path), "resource_not_found");
    }
  }

  /** The gateway's own metrics of the stage. Per method they would be ten more custom metrics, each of them billed. */
  metric(name: "Count" | "4XXError" | "5XXError"): Metric {
    // By name: a reference to the stage would make the functions, which alarms roll back, depend on themselves.
    return sum("AWS/ApiGateway", name, { ApiName: this.#apiName, Stage: stageName });
  }

  /** The only way to add an operation, so that none can lack the authorizer. */
  #addOperation(resource: IResource, { method, streamed }: Operation, { entry, live }: ServiceFunction): void {
    const integration = new LambdaIntegration(live, {
      ...(streamed && { responseTransferMode: ResponseTransferMode.STREAM }),
      allowTestInvoke: false,
      // A margin for the function's start, up to the gateway's maximum of 15 minutes (see `callLimits` for all waits).
      timeout: Duration.seconds(Math.min(entry.timeoutSeconds + 5, 900)),
    });
    const added = resource.addMethod(method, integration, {
      authorizer: this.#authorizer,
      authorizationType: AuthorizationType.CUSTOM,
    });
    Validations.of(added).acknowledge({
      id: "AwsSolutions-COG4",
      reason: "The clients are programs with API keys, not users of a Cognito pool",
    });
  }

  #bearerKeys(
    api: RestApi,
    handler: ServiceFunction,
    { apiKeyPrefix, authorizerCacheSeconds }: Environment,
  ): TokenAuthorizer {
    // Anchored, and in syntax that Java and JavaScript share: the gateway's dialect is not documented.
    const validationRegex = `^[Bb][Ee][Aa][Rr][Ee][Rr] ${apiKeyPattern(apiKeyPrefix)}$`;
    // A stage serves what was last deployed: without a new deployment, changed settings would never take effect.
    api.latestDeployment?.addToLogicalId({ validationRegex, authorizerCacheSeconds });
    return new TokenAuthorizer(this, "BearerKeys", {
      handler: handler.live,
      validationRegex,
      resultsCacheTtl: Duration.seconds(authorizerCacheSeconds),
    });
  }
}
