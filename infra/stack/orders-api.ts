import {
  LambdaIntegration,
  ResourceBase,
  ResponseTransferMode,
  TokenAuthorizer,
} from "aws-cdk-lib/aws-apigateway";
import { Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { Duration, type Stack } from "aws-cdk-lib/core";
import { Construct } from "constructs";
import { apiKeyPattern } from "../../shared/api-keys.ts";
import { addGatewayResponses, rejectOtherMethods } from "./gateway-responses.ts";
import type { ServiceFunctions } from "./service-function.ts";
import type { Environment } from "./settings.ts";
import { addRestApi, stageName } from "./staged-rest-api.ts";

export type OrdersApi = ReturnType<typeof addOrdersApi>;

/**
 * Makes the HTTP API: its operations behind the authorizer, and an Error record for everything
 * else.
 */
export function addOrdersApi(
  stack: Stack,
  environment: Environment,
  functions: ServiceFunctions,
) {
  const scope = new Construct(stack, "Api");
  const { restApi, accessLog } = addRestApi(scope, environment);
  addGatewayResponses(restApi);
  const { apiKeyPrefix, authorizerCacheSeconds, domain, stackName } = environment;
  // Anchored, and in syntax that Java and JavaScript share: the gateway's dialect is not
  // documented.
  const validationRegex = `^[Bb][Ee][Aa][Rr][Ee][Rr] +${apiKeyPattern(apiKeyPrefix)}$`;
  // A stage serves what was last deployed: without a new deployment, changed settings would never
  // take effect.
  restApi.latestDeployment?.addToLogicalId({ validationRegex, authorizerCacheSeconds });
  const authorizer = new TokenAuthorizer(scope, "BearerKeys", {
    handler: functions.authorize.alias,
    validationRegex,
    resultsCacheTtl: Duration.seconds(authorizerCacheSeconds),
  });
  for (const { entry, alias } of Object.values(functions)) {
    if (!entry.operation) continue;
    const { method, path, streamed } = entry.operation;
    const integration = new LambdaIntegration(alias, {
      ...(streamed && { responseTransferMode: ResponseTransferMode.STREAM }),
      allowTestInvoke: false,
      // A margin for the function's start, up to the gateway's maximum of 15 minutes (see
      // `callLimits` for all waits).
      timeout: Duration.seconds(Math.min(entry.timeoutSeconds + 5, 900)),
    });
    restApi.root.resourceForPath(path).addMethod(method, integration, { authorizer });
  }
  // After the operations: on their paths, on those above them, and on any other.
  for (const part of restApi.root.node.findAll())
    if (part instanceof ResourceBase) rejectOtherMethods(part);
  rejectOtherMethods(restApi.root.addResource("{proxy+}"));
  const host =
    domain?.name ?? `${restApi.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}`;
  return {
    /** The base address, which clients put before `/store/orders`. It ends in `/v1`. */
    baseUrl: `https://${host}/${stageName}`,
    accessLog,
    stage: restApi.deploymentStage,
    /**
     * The gateway's own metrics of the stage. Per method they would be ten more custom metrics,
     * each of them billed.
     */
    metric: (metricName: "Count" | "4XXError" | "5XXError") =>
      new Metric({
        namespace: "AWS/ApiGateway",
        metricName,
        // By name: a reference to the stage would make the functions, which alarms roll back,
        // depend on themselves.
        dimensionsMap: { ApiName: stackName, Stage: stageName },
        statistic: Stats.SUM,
      }),
  };
}
