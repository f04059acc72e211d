import type { Change } from "./changes.ts";
import { constructPath, referredId, referredResource, type Template } from "./template.ts";

/** The types that make up an operation, besides those that are always ordinary. */
const operationTypes = [
  "AWS::ApiGateway::Method",
  "AWS::ApiGateway::Resource",
  "AWS::CloudWatch::Alarm",
  "AWS::CodeDeploy::DeploymentGroup",
  "AWS::IAM::Role",
  "AWS::Lambda::Alias",
  "AWS::Lambda::Function",
  "AWS::Logs::LogGroup",
  "AWS::Logs::MetricFilter",
];

/** The properties that operations set. A new function with any other is not grouped. */
const functionProperties = [
  "Architectures",
  "Code",
  "Environment",
  "Handler",
  "LoggingConfig",
  "MemorySize",
  "ReservedConcurrentExecutions",
  "Role",
  "Runtime",
  "Tags",
  "Timeout",
];

/**
 * Whether a change adds or removes a function of the service: at the top of the stack and, if it is
 * added, with a new role and only the usual properties.
 */
export function isOperation({ kind, type, path, resource }: Change, changes: Change[]): boolean {
  if (type !== "AWS::Lambda::Function" || path.includes("/")) return false;
  if (kind !== "added") return kind === "removed";
  const properties = resource?.Properties ?? {};
  const isUsual = Object.keys(properties).every((name) => functionProperties.includes(name));
  const roleId = referredId(properties["Role"]);
  const isNewRole = changes.some((other) => other.kind === "added" && other.id === roleId);
  return isUsual && isNewRole;
}

/**
 * Picks the changes that belong to an added or removed function: its parts, what refers to them,
 * and the path of its route. A new route without the authorizer is not among them, so it is a
 * finding of its own.
 */
export function partsOf(lambda: Change, changes: Change[], deployed: Template): Change[] {
  const candidates = changes.filter(
    (change) =>
      change.kind === lambda.kind &&
      operationTypes.includes(change.type) &&
      (change.type !== "AWS::ApiGateway::Method" || isUsualRoute(change, deployed)),
  );
  const parts = candidates.filter(({ path }) => isNamedAfter(lambda.path, path));
  // The list grows while it is walked: alarms refer to metrics, which refer to a log group.
  for (const part of parts) {
    const remaining = candidates.filter((candidate) => !parts.includes(candidate));
    parts.push(...remaining.filter((other) => refersTo(other, part) || isParentPath(other, part)));
  }
  return parts;
}

/** The ends of the names of a function's alarms, metrics and deployment groups, after its id. */
const suffixes = [
  "",
  "Failed",
  "Failing",
  "Responses",
  "ServerErrors",
  "TableThrottled",
  "Throttled",
];

/** Whether a construct belongs to a function by its name: see `stack/function-list.ts`. */
function isNamedAfter(functionId: string, path: string): boolean {
  const [scope = "", name = ""] = path.split("/");
  if (["Alarms", "LogMetrics", "Rollout"].includes(scope))
    return suffixes.some((suffix) => name === `${functionId}${suffix}`);
  return [functionId, `${functionId}Log`, `${functionId}Role`].includes(scope);
}

/** Whether a route is removed, or added with the deployed authorizer or a constant response. */
function isUsualRoute({ kind, resource }: Change, deployed: Template): boolean {
  if (kind === "removed") return true;
  const { AuthorizationType, AuthorizerId, Integration } = resource?.Properties ?? {};
  const isConstant = Integration?.Type === "MOCK" && !/[$#]/.test(JSON.stringify(Integration));
  const isGuarded =
    AuthorizationType === "CUSTOM" &&
    Integration?.Type === "AWS_PROXY" &&
    referredResource(AuthorizerId, deployed)?.Type === "AWS::ApiGateway::Authorizer";
  return isConstant || isGuarded;
}

/** Picks the changes that remove the alarms and the canary, if the next template has no alarms. */
export function partsOfAlarms(changes: Change[], next: Template): Change[] {
  const isAlarmPath = (path: string) => path.startsWith("Alarms/");
  const hasAlarms = Object.keys(next.Resources).some((id) => isAlarmPath(constructPath(next, id)));
  if (hasAlarms || !changes.some(({ path }) => isAlarmPath(path))) return [];
  return changes.filter(
    ({ kind, path, type, property }) =>
      (kind === "removed" && /^(Alarms|Rollout)\/|^Outputs\.AlarmsTopicArn$/.test(path)) ||
      (type === "AWS::Lambda::Alias" && property === "UpdatePolicy"),
  );
}

/** Picks the changes that remove canaries for good. */
export function partsOfCanary(changes: Change[]): Change[] {
  return changes.filter(
    ({ type, property, is }) =>
      type === "AWS::Lambda::Alias" &&
      (property === "Description" || (property === "UpdatePolicy" && is === undefined)),
  );
}

/** Picks the changes of alarms' actions: whom they notify. */
export function partsOfAlarmActions(changes: Change[]): Change[] {
  return changes.filter(({ property }) => /^(AlarmActions|OKActions)\b/.test(property));
}

/** Whether a resource is a path above that of a route. */
function isParentPath({ type, path }: Change, route: Change): boolean {
  return type === "AWS::ApiGateway::Resource" && route.path.startsWith(`${path}/`);
}

/** Whether a resource refers to another one, or to a metric that it makes. */
function refersTo({ resource }: Change, part: Change): boolean {
  const text = JSON.stringify(resource);
  const metrics: { MetricName: string }[] =
    part.resource?.Properties?.["MetricTransformations"] ?? [];
  return (
    text.includes(`\${${part.id}}`) ||
    text.includes(`\${${part.id}.`) ||
    metrics.some(({ MetricName }) => text.includes(`"MetricName":"${MetricName}"`))
  );
}
