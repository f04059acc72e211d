import { isDeepStrictEqual } from "node:util";
import type { Change } from "./compare-templates.ts";

/** The types that may be added. */
const addableTypes = [
  "CloudWatch::Alarm",
  "CloudWatch::Dashboard",
  "Logs::LogGroup",
  "Logs::MetricFilter",
  "Output",
];

/** The types that may be removed. Versions go with their function. */
const removableTypes = ["CloudWatch::Dashboard", "Lambda::Version"];

/** The properties that may become anything, with all that is in them. */
const freeProperties = [
  "*.Description",
  "*.Metadata",
  "*.Properties.Description",
  "ApiGateway::GatewayResponse.Properties.ResponseTemplates.application/json.message",
  "ApiGateway::Method.Properties.Integration.IntegrationResponses.ResponseTemplates.application/json.message",
  "CloudWatch::Alarm.Properties.AlarmDescription",
  "CloudWatch::Dashboard.Properties",
];

/** The numbers that may become others, more than half and less than four times the old ones. */
const adjustableNumbers = [
  "ApiGateway::Authorizer.Properties.AuthorizerResultTtlInSeconds",
  "ApiGateway::Method.Properties.Integration.TimeoutInMillis",
  "ApiGateway::Stage.Properties.MethodSettings.ThrottlingBurstLimit",
  "ApiGateway::Stage.Properties.MethodSettings.ThrottlingRateLimit",
  "CloudWatch::Alarm.Properties.DatapointsToAlarm",
  "CloudWatch::Alarm.Properties.EvaluationPeriods",
  "CloudWatch::Alarm.Properties.Threshold",
  "DynamoDB::Table.Properties.OnDemandThroughput",
  "Lambda::Function.Properties.MemorySize",
  "Lambda::Function.Properties.ReservedConcurrentExecutions",
  "Lambda::Function.Properties.Timeout",
];

/** The numbers and lists that may grow; a list keeps its members. */
const growableProperties = [
  "*.DependsOn",
  "CodeDeploy::DeploymentGroup.Properties.AlarmConfiguration.Alarms",
  "Logs::LogGroup.Properties.RetentionInDays",
];

/** The values that a property may become; `any` is every value but unset. */
const allowedValues = [
  "*.DeletionPolicy=Retain",
  "*.UpdateReplacePolicy=Retain",
  "DynamoDB::Table.Properties.DeletionProtectionEnabled=true",
  "DynamoDB::Table.Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled=true",
  "Lambda::Alias.UpdatePolicy=any",
  "Lambda::Function.Properties.LoggingConfig.ApplicationLogLevel=DEBUG",
  "Lambda::Function.Properties.LoggingConfig.ApplicationLogLevel=INFO",
  "Lambda::Function.Properties.LoggingConfig.SystemLogLevel=INFO",
  "Lambda::Function.Properties.LoggingConfig.SystemLogLevel=WARN",
  "Lambda::Function.Properties.Runtime=nodejs26.x",
];

/** Values from outside the stack, or that let someone in: they are never ordinary. */
const outside = /"arn:|"(Not)?Principal"|\{\{resolve:|"Fn::ImportValue"|\$[a-z!{]/i;

/** Whether nobody has to accept a change. All that the lists above don't name stops a deployment. */
export function isOrdinary({ kind, type, property, was, is }: Change): boolean {
  if (kind === "removed") return removableTypes.includes(type);
  if (outside.test(JSON.stringify({ is }))) return false;
  if (kind === "added") return addableTypes.includes(type);
  // The lists have no numbers of list members.
  const path = property.replace(/\.\d+(?=\.|$)/g, "");
  const names = [`*.${path}`, `${type}.${path}`];
  const isIn = (list: string[]) =>
    list.some((entry) => names.some((name) => `${name}.`.startsWith(`${entry}.`)));
  const isAllowed = (value: unknown) =>
    names.some((name) => allowedValues.includes(`${name}=${value}`));
  // NaN unless both are numbers or numeric text.
  const growth = Number(is) / Number(was);
  // What waits for nothing may begin to wait.
  const keepsMembers = [property === "DependsOn" ? (was ?? []) : was]
    .flat()
    .every((member) => [is].flat().some((other) => isDeepStrictEqual(member, other)));
  return (
    isIn(freeProperties) ||
    (isIn(adjustableNumbers) && growth > 0.5 && growth < 4) ||
    (isIn(growableProperties) && (growth > 1 || keepsMembers)) ||
    isAllowed(is) ||
    (is !== undefined && isAllowed("any"))
  );
}
