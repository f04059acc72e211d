import type { Change } from "./changes.ts";
import { constructPath, type Template } from "./template.ts";

/** Whether a change is ordinary. The next template tells what the property itself doesn't. */
export type Rule = (change: Change, next: Template) => boolean;

export const always: Rule = () => true;
export const newlySet: Rule = ({ was }) => was === undefined;
export const newStream: Rule = ({ was, is, resource }) =>
  was === undefined &&
  JSON.stringify(is) === '{"StreamViewType":"NEW_AND_OLD_IMAGES"}' &&
  resource?.Properties?.["KeySchema"]?.[0]?.AttributeName === "id";
export const bothNumbers: Rule = ({ was, is }) => typeof was === "number" && typeof is === "number";
export const switchedOn: Rule = ({ is }) => is === true;
export const anyNumber: Rule = ({ is }) => isPositive(is);
export const anotherNumber: Rule = ({ was, is }) => isPositive(was) && isPositive(is);
export const longer: Rule = ({ was, is }) => Number(is ?? Infinity) > Number(was ?? Infinity);
export const retained: Rule = ({ is }) => /^Retain/.test(String(is));
export const oneOf =
  (...values: string[]): Rule =>
  ({ is }) =>
    values.includes(String(is));

/** An expression in which only what something is compared with differs. */
export const otherLimits: Rule = ({ was, is }) => {
  const withoutLimits = (expression: unknown) => String(expression).replace(/>= [\d.]+/g, ">=");
  return withoutLimits(was) === withoutLimits(is);
};

/** A policy that `cloudformation-diff` can read, so that `grants.ts` tells what it allows. */
export const comparedAsGrants: Rule = ({ was, is }) =>
  [was, is].every((policy) => !/"(Fn::|Ref")/.test(JSON.stringify(policy) ?? ""));

/** A policy that is attached to a role, and so grants something. */
export const attachedPolicy: Rule = (change, next) => {
  const { Roles: roles } = change.resource?.Properties ?? {};
  return Array.isArray(roles) && roles.length > 0 && comparedAsGrants(change, next);
};

/** A new alarm that tells topics, and nothing else. */
export const tellsTopics: Rule = ({ resource }) => {
  const {
    AlarmActions = [],
    InsufficientDataActions = [],
    OKActions = [],
  } = resource?.Properties ?? {};
  return [AlarmActions, InsufficientDataActions, OKActions]
    .flat()
    .every((action) => /^(\$\{\w+\}$|arn:[\w-]+:sns:)/.test(String(action)));
};

/** A new resource with no other properties than these. */
export const only =
  (...names: string[]): Rule =>
  ({ resource }) =>
    Object.keys(resource?.Properties ?? {}).every((name) => names.includes(name));

/** A function's variable that neither names its table nor steers its runtime or the SDK. */
export const otherVariable: Rule = ({ property }) => {
  const [, name = ""] = /^Environment\.Variables\.(\w+)$/.exec(property) ?? [];
  return name !== "" && !/_TABLE$|^(AWS|LD|NODE|OPENSSL|SSL)_/.test(name);
};

/** A list that still has all it had. */
export const moreOfThem: Rule = ({ was, is }) => {
  const texts = (list: unknown) => new Set([list].flat().map((item) => JSON.stringify(item)));
  return texts(was).isSubsetOf(texts(is));
};

/** An Error record with another message. It stays literal text: a variable could show anything. */
export const otherMessage: Rule = ({ was, is }) => {
  const before = errorRecord(was);
  const after = errorRecord(is);
  return (
    before !== undefined &&
    after !== undefined &&
    before["code"] === after["code"] &&
    before["status"] === after["status"] &&
    Object.keys(after).sort().join() === "code,message,status"
  );
};

function errorRecord(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== "string" || /[$#]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The methods of a path, as the header of its 405 has them. */
export const otherMethods: Rule = ({ was, is }) =>
  [was, is].every((value) => /^'[A-Z]+(, [A-Z]+)*'$/.test(String(value)));

/** The bucket that CDK's bootstrap made, whether the template spells out where it is or not. */
export const assetsBucket: Rule = ({ was, is }) =>
  [was, is].every((bucket) => /^(\{"Fn::Sub":)?"cdk-\w+-assets-/.test(JSON.stringify(bucket)));

/** A version of the same function. */
export const ownVersion: Rule = ({ is, resource }, next) => {
  const [, id = ""] = /^\$\{(\w+)\.Version\}$/.exec(String(is)) ?? [];
  const version = next.Resources[id];
  return (
    version?.Type === "AWS::Lambda::Version" &&
    version.Properties?.["FunctionName"] === resource?.Properties?.["FunctionName"]
  );
};

/** A deployment of the same API. */
export const ownDeployment: Rule = ({ is, resource }, next) => {
  const [, id = ""] = /^\$\{(\w+)\}$/.exec(String(is)) ?? [];
  const deployment = next.Resources[id];
  return (
    deployment?.Type === "AWS::ApiGateway::Deployment" &&
    deployment.Properties?.["RestApiId"] === resource?.Properties?.["RestApiId"]
  );
};

/** A canary that comes, or that is left out for one deployment, as the alias then says. */
export const canaryPauses: Rule = ({ was, resource }) =>
  was === undefined || saysCanaryPauses(resource?.Properties?.["Description"]);

/** The description of an alias, unless the canary that was to return does not. */
export const canaryReturns: Rule = ({ was, is, resource }) =>
  !saysCanaryPauses(was) || saysCanaryPauses(is) || resource?.["UpdatePolicy"] !== undefined;

/** See `setEveryAlias` in `stack/without-canary.ts`. */
function saysCanaryPauses(description: unknown): boolean {
  return /^Set without a canary/.test(String(description));
}

/**
 * A stage's settings for methods that come, with rates of their own and otherwise the settings that
 * all others have, and for methods that go.
 */
export const methodsComeAndGo: Rule = ({ was, is }, next) => {
  const before = methodSettings(was);
  const after = methodSettings(is);
  const gone = [...before.keys()].filter((method) => !after.has(method));
  return (
    Array.isArray(is) &&
    after.size === is.length &&
    after.has("/* *") &&
    gone.every((method) => !hasMethod(next, method)) &&
    [...after].every(([method, { rates, others }]) => {
      const had = before.get(method) ?? before.get("/* *");
      return rates.every(isPositive) && others === had?.others;
    })
  );
};

/** The settings by path and method, like `/store/orders GET`. */
function methodSettings(list: unknown) {
  const entries = Array.isArray(list) ? list : [];
  return new Map(
    entries.map((entry) => {
      const { ResourcePath, HttpMethod, ThrottlingBurstLimit, ThrottlingRateLimit, ...rest } =
        entry;
      const path = String(ResourcePath).slice(1).replaceAll("~1", "/");
      const rates = [ThrottlingBurstLimit, ThrottlingRateLimit];
      return [`/${path.replace(/^\//, "")} ${HttpMethod}`, { rates, others: JSON.stringify(rest) }];
    }),
  );
}

function hasMethod(template: Template, method: string): boolean {
  return Object.entries(template.Resources).some(
    ([id, { Type }]) =>
      Type === "AWS::ApiGateway::Method" &&
      constructPath(template, id).endsWith(`Default${method.replace(" ", "/")}`),
  );
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && value > 0;
}
