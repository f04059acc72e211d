import {
  AccessLogFormat,
  BasePathMapping,
  type CfnRestApi,
  DomainName,
  EndpointAccessMode,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import { CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { CfnOutput, RemovalPolicy, Stack, Validations } from "aws-cdk-lib/core";
import { Construct } from "constructs";
import { operations } from "./function-list.ts";
import type { Environment, Throttling } from "./settings.ts";

export const stageName = "v1";

/**
 * TLS 1.2 or newer, with post-quantum key exchange. STRICT rejects a request whose Host header is
 * not the name that TLS was agreed for.
 */
const tls = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
};

/**
 * Makes a regional REST API with one throttled stage, `v1`, its access and execution logs, its domain
 * and its web ACL.
 */
export function addRestApi(scope: Construct, environment: Environment) {
  const {
    accessLogRetentionDays,
    domain,
    keepData,
    logRetentionDays,
    ownsLogRole = true,
    stackName,
    throttling,
    webAclArn,
  } = environment;
  const accessLog = new LogGroup(scope, "AccessLog", {
    retention: accessLogRetentionDays,
    // Kept like the data: it shows what a leaked key was used for.
    removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  const restApi = new RestApi(scope, "Rest", {
    restApiName: stackName,
    endpointTypes: [EndpointType.REGIONAL],
    disableExecuteApiEndpoint: domain?.keepGatewayAddress === false,
    // One role serves every API of the account and region, and the last stack to be created sets
    // it. CDK makes role and setting outlive their stack, so that deleting one stack does not
    // silence the others.
    cloudWatchRole: ownsLogRole,
    deployOptions: {
      stageName,
      // For each method that is not an operation: requests that the gateway rejects count towards
      // the account's quota, too.
      ...methodSettings({ rateLimit: 10, burstLimit: 20 }),
      // An operation's settings replace all of the stage's, those for logging included.
      methodOptions: Object.fromEntries(
        operations.map(({ name, method, path }) => [
          `${path}/${method}`,
          methodSettings(throttling[name]),
        ]),
      ),
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: AccessLogFormat.custom(accessLogLine),
    },
  });
  // RestApi itself has no properties for these.
  Object.assign(restApi.node.defaultChild as CfnRestApi, tls);
  // Created here because the gateway would create it without a retention time.
  const executionLog = new LogGroup(scope, "ExecutionLog", {
    logGroupName: `API-Gateway-Execution-Logs_${restApi.restApiId}/${stageName}`,
    retention: logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  restApi.deploymentStage.node.addDependency(executionLog);
  // RestApi adds an output of its own; ours is BaseUrl.
  restApi.node.tryRemoveChild("Endpoint");
  if (webAclArn) {
    new CfnWebACLAssociation(scope, "WebAcl", {
      webAclArn,
      resourceArn: restApi.deploymentStage.stageArn,
    });
  }
  addDomain(scope, restApi, environment);
  acknowledgeRules(restApi, webAclArn);
  return { restApi, accessLog };
}

/** Serves the API's stage under a domain name of your own, if there is one. */
function addDomain(api: Construct, restApi: RestApi, { domain }: Environment) {
  if (!domain) return;
  const scope = new Construct(api, "Domain");
  const domainName = new DomainName(scope, "Name", {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(
      scope,
      "Certificate",
      domain.certificateArn,
    ),
    ...tls,
  });
  new BasePathMapping(scope, "BasePath", { domainName, restApi, basePath: stageName });
  if (!domain.hostedZone) {
    const value = domainName.domainNameAliasDomainName;
    new CfnOutput(Stack.of(api), "RegionalDomainName", { value });
    return;
  }
  new ARecord(scope, "Record", {
    recordName: domain.name,
    zone: HostedZone.fromHostedZoneAttributes(scope, "Zone", {
      hostedZoneId: domain.hostedZone.id,
      zoneName: domain.hostedZone.name,
    }),
    target: RecordTarget.fromAlias(new ApiGatewayDomain(domainName)),
  });
}

const withoutWebAcl = {
  id: "AwsSolutions-APIG3",
  reason:
    "A web ACL costs money while idle. A flood of junk can use up the clients' rate limit: the " +
    "alarm RequestsThrottled reports it",
};

/** Acknowledges the rules of cdk-nag that the API breaks, each with the reason. */
function acknowledgeRules(restApi: RestApi, webAclArn: string | undefined) {
  Validations.of(restApi).acknowledge(
    {
      id: "AwsSolutions-APIG2",
      reason:
        "No operation takes a query or body, and a malformed order id is a documented 404, not 400",
    },
    ...(webAclArn ? [] : [withoutWebAcl]),
    {
      id: "AwsSolutions-COG4",
      reason: "The clients are programs with API keys, not users of a Cognito pool",
    },
    {
      id:
        "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/" +
        "service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
      reason:
        "AWS maintains this policy for the account-wide role by which API Gateway writes its logs",
    },
  );
}

function methodSettings({ rateLimit, burstLimit }: Throttling) {
  return {
    throttlingRateLimit: rateLimit,
    throttlingBurstLimit: burstLimit,
    // Never INFO: those lines contain parts of the key.
    loggingLevel: MethodLoggingLevel.ERROR,
    dataTraceEnabled: false,
  };
}

/** A line of the access log: no header, query or body, because a key must never reach a log. */
const accessLogLine = JSON.stringify({
  requestId: "$context.requestId",
  lambdaRequestId: "$context.integration.requestId",
  keyId: "$context.authorizer.keyId",
  sourceIp: "$context.identity.sourceIp",
  domainName: "$context.domainName",
  tlsVersion: "$context.tlsVersion",
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
