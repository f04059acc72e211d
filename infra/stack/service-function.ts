import { fileURLToPath } from "node:url";
import { type Duration, RemovalPolicy } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  type Alias,
  ApplicationLogLevel,
  Architecture,
  type IFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface ServiceFunctionProps {
  /** The handler's file in `functions/`. */
  entry: string;
  timeout: Duration;
  /** In megabytes. It also sets the share of a CPU. */
  memorySize: number;
  environment: Record<string, string>;
  /** How many invocations may run at once; without it, as many as the account has left. */
  concurrencyLimit?: number | undefined;
  /** The one thing the function may do besides writing its own log. */
  permission: { action: `dynamodb:${string}`; table: ITable };
  logRetention: RetentionDays;
  logLevel: "DEBUG" | "INFO";
}

/** One of the service's functions: one bundle, one log group, one role with one DynamoDB action on one table. */
export class ServiceFunction extends NodejsFunction {
  /** What callers invoke: the version that is live. */
  readonly live: IFunction;
  readonly alias: Alias;
  readonly permission: ServiceFunctionProps["permission"];
  readonly concurrencyLimit: number | undefined;

  constructor(
    scope: Construct,
    id: string,
    { entry, permission, logRetention, logLevel, concurrencyLimit, ...props }: ServiceFunctionProps,
  ) {
    const logGroup = new LogGroup(scope, `${id}Log`, { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY });
    // CDK would attach a managed policy that allows writing to every log group of the account.
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    super(scope, id, {
      ...props,
      ...(concurrencyLimit !== undefined && { reservedConcurrentExecutions: concurrencyLimit }),
      entry: `${root}functions/${entry}`,
      projectRoot: root,
      depsLockFilePath: `${root}package-lock.json`,
      handler: "handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel[logLevel],
      // Lambda's own lines about invocations that failed, but not those about every invocation.
      systemLogLevelV2: SystemLogLevel.WARN,
      // The previous version stays: moving the alias back takes a second, another deployment minutes. One that a failed
      // update leaves behind would stop the same code from ever being deployed again, and goes.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
      // Recent SDKs keep connections alive anyway.
      awsSdkConnectionReuse: false,
      bundling: {
        format: OutputFormat.ESM,
        target: "node24",
        mainFields: ["module", "main"],
        minify: true,
        bundleAwsSDK: true,
        esbuildArgs: { "--alias:@aws-sdk/credential-provider-node": `${root}shared/environment-credentials.ts` },
      },
    });
    logGroup.grantWrite(role);
    this.permission = permission;
    this.concurrencyLimit = concurrencyLimit;
    permission.table.grant(role, permission.action);
    // CDK declares optional properties loosely: under exactOptionalPropertyTypes an Alias is not quite an IFunction.
    this.alias = this.addAlias("live");
    this.live = this.alias as IFunction;
  }
}

/** The functions of one environment. */
export type ServiceFunctions = Record<"listOrders" | "cancelOrder" | "authorize", ServiceFunction>;
