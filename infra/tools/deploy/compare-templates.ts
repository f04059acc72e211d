import { isDeepStrictEqual } from "node:util";
import { diffTemplate, type Resource } from "@aws-cdk/cloudformation-diff";
import { resolveIntrinsics } from "../intrinsics.ts";

/** A CloudFormation template. */
export interface Template {
  Description?: string;
  Resources: Record<string, Resource>;
  Outputs?: Record<string, object>;
}

/**
 * The parts of a template that are compared one by one: each resource by its logical id or path,
 * each output as a resource of the type `Output`, and the rest as one of the type `Template`.
 */
type Parts = Record<string, Resource>;

/** The account and region of a stack. */
export interface Account {
  id: string;
  region: string;
}

/** Types whose logical ids CDK makes from their content: each new build has others. */
const renamed = ["AWS::ApiGateway::Deployment", "AWS::Lambda::Version"];

/**
 * Rewrites a template so that equal meanings read alike. References become text with the logical id,
 * like `<Orders1A2B3C4D.Arn>`; in literal text, `<` is doubled. What CDK renames goes by its path.
 * Account and region are spelt out where `account` has them. Text that is JSON becomes what it says.
 * Tags go by their keys. Instead of its hash, code has the id of the first function that runs it. An
 * alias that skips its canary once says so where the canary stood.
 */
export function comparable(template: Template, account?: Account): Parts {
  const known = new Map([
    ["AWS::AccountId", account?.id],
    ["AWS::Region", account?.region],
  ]);
  const resources = Object.entries(template.Resources);
  const nameOf = (id: string) => {
    const resource = template.Resources[id];
    return renamed.includes(`${resource?.Type}`) ? constructPath(id, resource) : id;
  };
  const referenceText = (id: string, attribute = ""): string =>
    known.get(id) ?? `<${propertyPath(nameOf(id), attribute)}>`;
  const plain = (property: string, value: unknown): unknown => {
    if (typeof value === "string") return fromJson(value);
    if (property !== "Tags" || !Array.isArray(value)) return value;
    return Object.fromEntries(value.map(({ Key, Value }) => [Key, Value]));
  };
  let literal = JSON.stringify(template).replaceAll("<", "<<");
  for (const [id, { Properties }] of resources) {
    const [hash] = /[0-9a-f]{64}/.exec(Properties?.["Code"]?.S3Key) ?? [];
    if (hash) literal = literal.replaceAll(hash, `<${id}>`);
  }
  const spelt = JSON.stringify(resolveIntrinsics(JSON.parse(literal), referenceText));
  const { Resources, Outputs = {}, ...rest }: Template = JSON.parse(spelt, plain);
  const parts: Parts = { "Stack/Template": { Type: "Template", ...rest } };
  for (const [id, output] of Object.entries(Outputs))
    parts[`Stack/Outputs.${id}`] = { Type: "Output", ...output };
  for (const [id, resource] of Object.entries(Resources)) {
    const { Properties = {} } = resource;
    if (/^Set without a canary/.test(Properties["Description"]))
      resource["UpdatePolicy"] = "skipped once";
    const key = `Stack/${nameOf(id)}`;
    parts[key in parts ? id : key] = { ...resource, Properties };
  }
  return parts;
}

/** The value of a text that is JSON as `JSON.stringify` writes it; any other text as it is. */
function fromJson(text: string): unknown {
  // Anything else would fail to parse, which is slow.
  if (!/^[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (JSON.stringify(value) === text) return value;
  } catch {}
  return text;
}

/**
 * The path of a resource's construct in its stack, like `Api/BearerKeys`; its logical id where it
 * has no path.
 */
export function constructPath(id: string, resource: Resource | undefined): string {
  const path: string = resource?.["Metadata"]?.["aws:cdk:path"] ?? id;
  return path.replace(/^[^/]*\/|\/Resource$/g, "");
}

/** The path of a property, like `Properties.MemorySize`. */
export function propertyPath(...names: string[]): string {
  return names.filter(Boolean).join(".");
}

/** Whether a part of a template is an object or a list. */
export function isObject(part: unknown): part is Record<string, unknown> {
  return typeof part === "object" && part !== null;
}

/** A statement of a policy, or the properties of a function's permission. */
export type Grant = Record<string, unknown>;

/** Whether a part of a template allows or denies something. */
export function isGrant(part: unknown): part is Grant {
  return isObject(part) && ("Effect" in part || "Principal" in part);
}

/** A value in a part of a template, which has no parts itself, is empty or is a grant. */
interface Leaf {
  /** The value's path, like `Properties.MemorySize`. */
  property: string;
  is: unknown;
}

export function leaves(is: unknown, property = ""): Leaf[] {
  if (!isObject(is) || isGrant(is) || Object.keys(is).length === 0)
    return [{ property, is }];
  return Object.entries(is).flatMap(([key, inner]) =>
    leaves(inner, propertyPath(property, key)),
  );
}

/** One difference between two templates, in a part as it will be, or was. */
export interface Change extends Difference {
  kind: "added" | "removed" | "changed";
  /** The part's type without `AWS::`. */
  type: string;
  /** The construct's path, like `Api/BearerKeys`; for an output, like `Outputs.BaseUrl`. */
  path: string;
  content: Resource;
  /** Whether the change makes a new resource, without what the old one holds. */
  replaces: boolean;
}

/** Where a part differs: the property is empty when all of it does. */
interface Difference extends Leaf {
  was: unknown;
}

/** Lists how two comparable templates differ. */
export function listChanges(before: Parts, after: Parts): Change[] {
  return Object.entries({ ...before, ...after }).flatMap(([id, content]) => {
    const gone = id in after ? "changed" : "removed";
    const kind = id in before ? gone : "added";
    const path = constructPath(id, content);
    const type = content.Type.replace("AWS::", "");
    // One part at a time: CDK is slow at comparing whole templates.
    const only = (parts: Parts) => ({ Resources: { [id]: parts[id] } });
    const diff = diffTemplate(only(before), only(after)).resources.changes[id];
    return differences(before[id], after[id]).map((difference) => {
      const [, name = ""] = /^Properties\.(\w+)/.exec(difference.property) ?? [];
      const impact = String(diff?.propertyUpdates[name]?.changeImpact);
      const replaces = difference.property === "Type" || impact.endsWith("_REPLACE");
      return { content, kind, path, replaces, type, ...difference };
    });
  });
}

/**
 * Lists the innermost members that differ. What grants something differs as a whole, and so does a
 * list of grants or one that grows or shrinks.
 */
function differences(was: unknown, is: unknown, property = ""): Difference[] {
  if (isDeepStrictEqual(was, is)) return [];
  const isWhole = !isObject(was) || !isObject(is) || was["length"] !== is["length"];
  if (isWhole || [was, is].flat().some(isGrant)) return [{ property, was, is }];
  return Object.keys({ ...was, ...is }).flatMap((key) =>
    differences(was[key], is[key], propertyPath(property, key)),
  );
}
