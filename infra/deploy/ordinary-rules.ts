import { isDeepStrictEqual } from "node:util";
import type { Change } from "./changes.ts";
import { constructPath, referredResource, type Template } from "./template.ts";

/** Whether a change is ordinary. `next` is for rules that look at other resources. */
export type Rule = (change: Change, next: Template) => boolean;

export const always: Rule = () => true;
export const newlySet: Rule = ({ was }) => was === undefined;
export const switchedOn: Rule = ({ is }) => is === true;
export const positive: Rule = ({ is }) => isPositive(is);
// Unset means forever.
export const longer: Rule = ({ was, is }) => Number(is ?? Infinity) > Number(was ?? Infinity);
export const retained: Rule = ({ is }) => /^Retain/.test(String(is));
export const oneOf =
  (...values: string[]): Rule =>
  ({ is }) =>
    values.includes(String(is));

/** A new stream of the orders table. Its key is called `id`, unlike that of the keys' table. */
export const newStream: Rule = ({ was, is, resource }) =>
  was === undefined &&
  isDeepStrictEqual(is, { StreamViewType: "NEW_AND_OLD_IMAGES" }) &&
  resource?.Properties?.["KeySchema"]?.[0]?.AttributeName === "id";

/** A metric's expression that differs only in its limits, like `>= 3`. */
export const otherLimits: Rule = ({ was, is }) => {
  const withoutLimits = (expression: unknown) => String(expression).replace(/>= [\d.]+/g, ">=");
  return withoutLimits(was) === withoutLimits(is);
};

/** A policy that `cloudformation-diff` can read, so that `grants.ts` lists what it allows. */
export const comparedAsGrants: Rule = ({ was, is }) =>
  [was, is].every((policy) => !/"(Fn::|Ref")/.test(JSON.stringify(policy) ?? ""));

/** A policy that is attached to a role, and so grants something. */
export const attachedPolicy: Rule = (change, next) => {
  const roles = change.resource?.Properties?.["Roles"];
  return Array.isArray(roles) && roles.length > 0 && comparedAsGrants(change, next);
};

/** An alarm whose actions all notify SNS topics. */
export const notifiesOnlyTopics: Rule = ({ resource }) =>
  ["AlarmActions", "InsufficientDataActions", "OKActions"]
    .flatMap((name) => resource?.Properties?.[name] ?? [])
    .every((action) => /^(\$\{\w+\}$|arn:[\w-]+:sns:)/.test(String(action)));

/** A new resource with no other properties than these. */
export const only =
  (...names: string[]): Rule =>
  ({ resource }) =>
    Object.keys(resource?.Properties ?? {}).every((name) => names.includes(name));

/** A function's variable that neither names its table nor steers its runtime or the SDK. */
export const otherVariable: Rule = ({ property }) => {
  const name = /^Environment\.Variables\.(\w+)$/.exec(property)?.[1];
  return name !== undefined && !/_TABLE$|^(AWS|LD|NODE|OPENSSL|SSL)_/.test(name);
};

/** A list to which entries were only added. */
export const onlyGrew: Rule = ({ was, is }) => {
  const texts = (list: unknown) => new Set([list].flat().map((item) => JSON.stringify(item)));
  return texts(was).isSubsetOf(texts(is));
};

/** An Error record with another message. It must be literal: a variable could show anything. */
export const otherMessage: Rule = ({ was, is }) => {
  const withoutMessage = (record: unknown) =>
    String(record).replace(/"message":"(?:[^"\\]|\\.)*"/, "");
  return !/[$#]/.test(String(is)) && withoutMessage(was) === withoutMessage(is);
};

/** The methods in the Allow header of a path's 405. */
export const allowHeader: Rule = ({ was, is }) =>
  [was, is].every((value) => /^'[A-Z]+(, [A-Z]+)*'$/.test(String(value)));

/** The bucket of CDK's bootstrap, as a name or as a `Fn::Sub` of account and region. */
export const assetsBucket: Rule = ({ was, is }) =>
  [was, is].every((bucket) => /^(\{"Fn::Sub":)?"cdk-\w+-assets-/.test(JSON.stringify(bucket)));

/** A reference to a resource of this type, of the same function or API. */
const ofSame =
  (owner: string, type: string): Rule =>
  ({ is, resource }, next) => {
    const referred = referredResource(is, next);
    if (referred?.Type !== type) return false;
    return referred.Properties?.[owner] === resource?.Properties?.[owner];
  };

export const versionOfSameFunction = ofSame("FunctionName", "AWS::Lambda::Version");
export const deploymentOfSameApi = ofSame("RestApiId", "AWS::ApiGateway::Deployment");

/** The canary is added, or this one deployment skips it, which the alias's description says. */
export const canaryAddedOrSkipped: Rule = ({ was, resource }) =>
  was === undefined || saysSkipped(resource?.Properties?.["Description"]);

/**
 * An alias's description. After a deployment that skipped the canary, the next one has it or skips
 * it again.
 */
export const aliasDescription: Rule = ({ was, is, resource }) => {
  if (!saysSkipped(was)) return true;
  const hasCanary = resource?.["UpdatePolicy"] !== undefined;
  return hasCanary || saysSkipped(is);
};

/** See `setEveryAlias` in `stack/without-canary.ts`. */
function saysSkipped(description: unknown): boolean {
  return /^Set without a canary/.test(String(description));
}

/** The key, among `methodSettings`, of the settings for methods that have none of their own. */
const allMethods = "/* *";

/**
 * A stage's list of settings to which methods were added, or from which removed methods went. An
 * added method may differ from all others in its rates alone.
 */
export const methodsComeAndGo: Rule = ({ was, is }, next) => {
  const before = methodSettings(was);
  const after = methodSettings(is);
  const isListedOnce = Array.isArray(is) && after.size === is.length;
  const gone = [...before.keys()].filter((method) => !after.has(method));
  const keepOtherSettings = [...after].every(([method, { rates, otherSettings }]) => {
    const previous = before.get(method) ?? before.get(allMethods);
    return rates.every(isPositive) && otherSettings === previous?.otherSettings;
  });
  return (
    isListedOnce &&
    after.has(allMethods) &&
    gone.every((method) => !hasMethod(next, method)) &&
    keepOtherSettings
  );
};

/** The settings by path and method, like `/store/orders GET`. */
function methodSettings(list: unknown) {
  const entries = Array.isArray(list) ? list : [];
  return new Map(
    entries.map((entry) => {
      const { ResourcePath, HttpMethod, ThrottlingBurstLimit, ThrottlingRateLimit, ...others } =
        entry;
      // API Gateway writes /~1store~1orders for /store/orders, and /* for every path.
      const path = String(ResourcePath).slice(1).replaceAll("~1", "/").replace(/^\//, "");
      const rates = [ThrottlingBurstLimit, ThrottlingRateLimit];
      return [`/${path} ${HttpMethod}`, { rates, otherSettings: JSON.stringify(others) }];
    }),
  );
}

/** Whether there is a method like `/store/orders GET`. Its path ends `Default/store/orders/GET`. */
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
