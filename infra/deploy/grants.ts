import { leaves } from "./template.ts";

/** A statement of a policy, or the properties of a function's permission. */
type Grant = Record<string, unknown>;

/** Whether a part of a template allows or denies something. */
export function isGrant(part: unknown): part is Grant {
  const { Action, Effect, Principal } = Object(part);
  return Effect !== undefined || (Action !== undefined && Principal !== undefined);
}

/** Whether a part of a template allows something to anyone but a service of AWS or its holder. */
export function isForeign(part: unknown): boolean {
  if (!isGrant(part))
    return typeof part === "object" && Object.values(part ?? {}).some(isForeign);
  const principals = leaves(part["Principal"] ?? []).map(([, name]) => String(name));
  const isService = (name: string) => /^[\w.-]+\.amazonaws\.com$/.test(name);
  return (
    part["Effect"] !== "Deny" && ("NotPrincipal" in part || !principals.every(isService))
  );
}

/**
 * Spells out a grant: who may do what, on what, and whatever else it says.
 *
 * @param holder who holds a grant that names no one.
 */
export function grantText(grant: Grant, holder: string): string {
  const {
    Effect = "Allow",
    FunctionName = "itself",
    Principal = "NotPrincipal" in grant ? "anyone" : holder,
    Action = "anything",
    Resource = "NotResource" in grant ? "anything" : FunctionName,
    ...others
  } = grant;
  const also = Object.keys(others).length > 0 ? `, ${spell(others)}` : "";
  return `${Effect} ${spell(Principal)} ${spell(Action)} on ${spell(Resource)}${also}`;
}

/** Like `AWS 222222222222`. The members of a list have no names, and an empty part keeps its own. */
function spell(value: unknown): string {
  if (Array.isArray(value)) return value.map(spell).join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value).map(([name, inner]) => `${name} ${spell(inner)}`);
  return entries.join(", ");
}
