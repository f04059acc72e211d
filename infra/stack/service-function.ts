import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  type Alias,
  ApplicationLogLevel,
  Architecture,
  type Code,
  type IFunction,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Duration, RemovalPolicy, type Stack } from "aws-cdk-lib/core";
import type { FunctionEntry, PerFunction, ServiceTable } from "./function-list.ts";
import type { Environment } from "./settings.ts";
import type { ServiceTables } from "./tables.ts";

/** The environment variable in which a function finds the name of its table. */
const tableVariables: Record<ServiceTable, string> = {
  orders: "ORDERS_TABLE",
  apiKeys: "API_KEYS_TABLE",
};

/** The functions of one environment, with what the rest of the stack needs to know about each. */
export type ServiceFunctions = PerFunction<ReturnType<typeof addFunction>>;

/**
 * Makes one of the service's functions: one bundle, one log group, one role with one DynamoDB
 * action on its table.
 */
export function addFunction(
  stack: Stack,
  entry: FunctionEntry,
  code: Code,
  tables: ServiceTables,
  environment: Environment,
) {
  const {
    functionLogLevel,
    keepData,
    listConcurrency,
    logRetentionDays,
    systemLogLevel,
  } = environment;
  const { action, id, memorySize, operation, timeoutSeconds } = entry;
  const table = tables[entry.table];
  const logGroup = new LogGroup(stack, `${id}Log`, {
    retention: logRetentionDays,
    // Kept like the data: this log shows why a rollback removed the operation.
    removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  // CDK would attach a managed policy that allows writing to every log group of the account.
  const role = new Role(stack, `${id}Role`, {
    assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
  });
  const lambda = new LambdaFunction(stack, id, {
    timeout: Duration.seconds(timeoutSeconds),
    memorySize,
    environment: { [tableVariables[entry.table]]: table.tableName },
    ...(operation?.streamed &&
      listConcurrency && { reservedConcurrentExecutions: listConcurrency }),
    code,
    handler: "index.handler",
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    role,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    applicationLogLevelV2: ApplicationLogLevel[functionLogLevel],
    systemLogLevelV2: SystemLogLevel[systemLogLevel],
    // The previous version stays: moving the alias back takes a second, another deployment minutes.
    // A version that a failed update leaves behind is deleted, or the same code could never be
    // deployed again.
    currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
  });
  logGroup.grantWrite(role);
  table.grant(role, `dynamodb:${action}`);
  // Callers invoke the alias, which points to the live version. CDK declares optional properties
  // loosely: under exactOptionalPropertyTypes an Alias is not quite an IFunction.
  const alias = lambda.addAlias("live") as Alias & IFunction;
  // All throttled calls of this action: DynamoDB counts by table and operation only.
  const throttledTableRequests = table.metricThrottledRequestsForOperation(action);
  return { entry, throttledTableRequests, logGroup, lambda, alias };
}
