import type { Change } from "./changes.ts";
import { constructPath, type Template } from "./template.ts";

/** Whether a change is ordinary. The next template tells what the property itself doesn't. */
export type Rule = (change: Change, next: Template) => boolean;

export const always: Rule = () => true;
export const newlySet: Rule = ({ was }) => was === undefined;
export const switchedOn: Rule = ({ is }) => is === true;
export const anyNumber: Rule = ({ is }) => isPositive(is);
export const anotherNumber: Rule = ({ was, is }) => isPositive(was) && isPositive(is);
export const longer: Rule = ({ was, is }) => Number(is ?? Infinity) > Number(was ?? Infinity);
export const retained: Rule = ({ is }) => /^Retain/.test(String(is));
export const oneOf =
  (...values: string[]): Rule =>
  ({ is }) =>
    values.includes(String(is));

/** An expression in which only numbers differ. */
export const otherLimits: Rule = ({ was, is }) => {
  const withoutNumbers = (expression: unknown) => String(expression).replace(/[\d.]+/g, "");
  return withoutNumbers(was) === withoutNumbers(is);
};

/** A new resource with no other properties than these. */
export const only =
  (...names: string[]): Rule =>
  ({ resource }) =>
    Object.keys(resource?.Properties ?? {}).every((name) => names.includes(name));

/** A function's variable that neither names its table nor steers Node.js or the SDK. */
export const otherVariable: Rule = ({ property }) => !/_TABLE$|\.(AWS|NODE)_\w+$/.test(property);

/** A list that still has all it had. */
export const moreOfThem: Rule = ({ was, is }) => {
  const texts = (list: unknown) => new Set([list].flat().map((item) => JSON.stringify(item)));
  return texts(was).isSubsetOf(texts(is));
};

/** A text that shows no variable of the request or the gateway that it did not show before. */
export const otherText: Rule = ({ was, is }) => {
  const variables = (text: unknown) => new Set(String(text).match(/[$#][!{]*[\w.]+/g));
  return typeof is === "string" && variables(is).isSubsetOf(variables(was));
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
