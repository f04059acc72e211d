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
  /** Megabytes; it sets the share of a CPU too. */
  memorySize: number;
  environment: Record<string, string>;
  /** The one thing the function may do besides writing its own log. */
  permission: { action: `dynamodb:${string}`; table: ITable };
  logRetention: RetentionDays;
  logLevel: "DEBUG" | "INFO";
}

/** A function of the service: one bundle, one log group, one role with one DynamoDB action on one table. */
export class ServiceFunction extends NodejsFunction {
  /** What callers invoke: the version that is live. */
  readonly live: IFunction;
  readonly alias: Alias;
  readonly permission: ServiceFunctionProps["permission"];

  constructor(
    scope: Construct,
    id: string,
    { entry, permission, logRetention, logLevel, ...props }: ServiceFunctionProps,
  ) {
    const logGroup = new LogGroup(scope, `${id}Log`, { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY });
    // Not the managed policy that CDK would attach: it allows writing to every log group of the account.
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    super(scope, id, {
      ...props,
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
      systemLogLevelV2: SystemLogLevel.WARN,
      // What was live before stays at hand: turning the alias back takes a second, another deployment minutes.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN },
      // The functions keep their connections alive by themselves.
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
    permission.table.grant(role, permission.action);
    // CDK declares its optional properties loosely: under exactOptionalPropertyTypes an Alias is not quite an IFunction.
    this.alias = this.addAlias("live");
    this.live = this.alias as IFunction;
  }
}
