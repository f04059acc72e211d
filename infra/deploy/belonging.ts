import type { Change } from "./changes.ts";
import { constructPath, type Template } from "./template.ts";

/** The types of an operation's parts, beside those that may come and go anyway. */
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

/** The properties that a function of the service sets; any other is told by itself. */
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
 * Whether a change adds or removes a function like the stack's own: not one inside a construct and,
 * when it is added, with a role of its own and nothing unusual.
 */
export function isOperation({ kind, type, path, resource }: Change, changes: Change[]): boolean {
  if (type !== "AWS::Lambda::Function" || path.includes("/")) return false;
  if (kind === "removed") return true;
  const { Role: role, ...properties } = resource?.Properties ?? {};
  const isUsual = Object.keys(properties).every((name) => functionProperties.includes(name));
  const isNewRole = changes.some(({ kind, id }) => kind === "added" && role === `\${${id}.Arn}`);
  return kind === "added" && isUsual && isNewRole;
}

/**
 * Picks the changes that come or go with a function: its parts, whatever refers to them, and the
 * path of its route. A route that comes without the authorizer is left out, and so told by itself.
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
    const leadsThere = ({ type, path }: Change) =>
      type === "AWS::ApiGateway::Resource" && part.path.startsWith(`${path}/`);
    const others = candidates.filter((candidate) => !parts.includes(candidate));
    parts.push(...others.filter((other) => refersTo(other, part) || leadsThere(other)));
  }
  return parts;
}

const ownSuffixes = /^(|Failed|Failing|Responses|ServerErrors|TableThrottled|Throttled)$/;

/** Whether a construct belongs to a function by its name, as `stack/function-list.ts` has it. */
function isNamedAfter(lambda: string, path: string): boolean {
  const [scope = "", name = ""] = path.split("/");
  const isWatching = ["Alarms", "LogMetrics", "Rollout"].includes(scope);
  return (
    [lambda, `${lambda}Log`, `${lambda}Role`].includes(scope) ||
    (isWatching && name.startsWith(lambda) && ownSuffixes.test(name.slice(lambda.length)))
  );
}

/** Whether a route goes, or comes with the deployed authorizer, or has a constant response. */
function isUsualRoute({ kind, resource }: Change, deployed: Template): boolean {
  const { AuthorizationType, AuthorizerId, Integration } = resource?.Properties ?? {};
  const isConstant = Integration?.Type === "MOCK" && !/[$#]/.test(JSON.stringify(Integration));
  const [, authorizer = ""] = /^\$\{(\w+)\}$/.exec(String(AuthorizerId)) ?? [];
  const isGuarded =
    AuthorizationType === "CUSTOM" &&
    Integration?.Type === "AWS_PROXY" &&
    deployed.Resources[authorizer]?.Type === "AWS::ApiGateway::Authorizer";
  return kind === "removed" || isConstant || isGuarded;
}

/** Picks the changes by which the alarms and the canary go, if the next template has none. */
export function partsOfAlarms(changes: Change[], next: Template): Change[] {
  const isAlarms = (path: string) => path.startsWith("Alarms/");
  const isWatched = Object.keys(next.Resources).some((id) => isAlarms(constructPath(next, id)));
  if (isWatched || !changes.some(({ path }) => isAlarms(path))) return [];
  return changes.filter(
    ({ kind, path, type, property }) =>
      (kind === "removed" && /^(Alarms|Rollout)\/|^Outputs\.AlarmsTopicArn$/.test(path)) ||
      (type === "AWS::Lambda::Alias" && property === "UpdatePolicy"),
  );
}

/** Picks the changes by which a canary goes for good, from one or more functions. */
export function partsOfCanary(changes: Change[]): Change[] {
  return changes.filter(
    ({ type, property, is }) =>
      type === "AWS::Lambda::Alias" &&
      (property === "Description" || (property === "UpdatePolicy" && is === undefined)),
  );
}

/** Picks the changes of whom alarms tell. */
export function partsOfAlarmActions(changes: Change[]): Change[] {
  return changes.filter(
    ({ kind, type, property }) =>
      kind === "changed" &&
      type === "AWS::CloudWatch::Alarm" &&
      /^(AlarmActions|OKActions)\b/.test(property),
  );
}

/** Whether a resource refers to another one, or to a metric that it makes. */
function refersTo({ resource }: Change, part: Change): boolean {
  const text = JSON.stringify(resource);
  const metrics: { MetricName: string }[] =
    part.resource?.Properties?.["MetricTransformations"] ?? [];
  return (
    [".", "}"].some((end) => text.includes(`\${${part.id}${end}`)) ||
    metrics.some(({ MetricName }) => text.includes(`"MetricName":"${MetricName}"`))
  );
}
