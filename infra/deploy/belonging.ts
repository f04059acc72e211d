import type { Change } from "./changes.ts";
import { constructPath, type Template } from "./template.ts";

/** What an operation is made of, beside what may come and go anyway. */
const operationTypes = [
  "AWS::ApiGateway::Method",
  "AWS::ApiGateway::Resource",
  "AWS::CloudWatch::Alarm",
  "AWS::CodeDeploy::DeploymentGroup",
  "AWS::Lambda::Alias",
  "AWS::Lambda::Function",
  "AWS::Logs::LogGroup",
  "AWS::Logs::MetricFilter",
];

/** Whether a change adds or removes a function of the stack's own, and not one inside a construct. */
export function isFunction({ kind, type, path }: Change): boolean {
  const comesOrGoes = kind === "added" || kind === "removed";
  return comesOrGoes && type === "AWS::Lambda::Function" && !path.includes("/");
}

/**
 * Picks the changes that come or go with a function: its parts, whatever refers to them, and the
 * path of its route. A route that needs no key is left out, so that it is told by itself.
 */
export function partsOf(lambda: Change, changes: Change[]): Change[] {
  const candidates = changes.filter(
    (change) =>
      change.kind === lambda.kind && operationTypes.includes(change.type) && !isOpenRoute(change),
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

/** Whether a construct belongs to a function by its name, as `stack/function-list.ts` has it. */
function isNamedAfter(lambda: string, path: string): boolean {
  const [scope = "", name = ""] = path.split("/");
  const isWatching = ["Alarms", "LogMetrics", "Rollout"].includes(scope);
  return scope === lambda || scope === `${lambda}Log` || (isWatching && name.startsWith(lambda));
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

/** Whether a route serves whoever asks, with more than a constant response. */
export function isOpenRoute({ kind, type, resource }: Change): boolean {
  if (kind !== "added" || type !== "AWS::ApiGateway::Method") return false;
  const { AuthorizationType: authorization, Integration: integration } = resource?.Properties ?? {};
  return authorization !== "CUSTOM" && integration?.Type !== "MOCK";
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
