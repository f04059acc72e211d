import type { Resource } from "@aws-cdk/cloudformation-diff";
import { resolveIntrinsics } from "../stack/intrinsics.ts";

/** A CloudFormation template. */
export interface Template {
  Description?: string;
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: unknown; Export?: unknown }>;
}

/** The account and region of a stack. */
export interface Place {
  id: string;
  region: string;
}

/** Types whose logical ids CDK makes from their content: each new build has others. */
const renamed = ["AWS::ApiGateway::Deployment", "AWS::Lambda::Version"];

/**
 * Rewrites a template so that equal meanings read alike. References become text with the construct's
 * path, like `{Orders.Arn}`; account and region are spelt out where `place` has them; text that is
 * JSON becomes what it says; tags go by their keys, and what CDK renames goes by its path. An alias
 * that skips its canary once says so where the canary stood.
 */
export function comparable(template: Template, place: Partial<Place> = {}): Template {
  const known = new Map([
    ["AWS::AccountId", place.id],
    ["AWS::Region", place.region],
  ]);
  const spell = (id: string, attribute = ""): string =>
    known.get(id) ?? `{${constructPath(template, id)}${attribute && `.${attribute}`}}`;
  const plain = (property: string, value: unknown): unknown => {
    if (typeof value === "string") return fromJson(value);
    const text = Object(value)["Fn::Sub"];
    if (typeof text === "string")
      return text.replace(/\$\{([\w:]+)\.?([\w.]+)?\}/g, (_, id, name) => spell(id, name));
    const isList = property === "Tags" && Array.isArray(value);
    return isList ? Object.fromEntries(value.map(({ Key, Value }) => [Key, Value])) : value;
  };
  const spelt: Template = JSON.parse(
    JSON.stringify(resolveIntrinsics(template, spell)),
    plain,
  );
  const resources: Template["Resources"] = {};
  for (const [id, resource] of Object.entries(spelt.Resources)) {
    const isSkipped = /^Set without a canary/.test(
      String(resource.Properties?.["Description"]),
    );
    const key = `at ${constructPath(template, id)}`;
    const isRenamed = renamed.includes(resource.Type) && !(key in resources);
    if (isSkipped) resource["UpdatePolicy"] = "skipped once";
    resources[isRenamed ? key : id] = resource;
  }
  return { ...spelt, Resources: resources };
}

/** What a text says in JSON as `JSON.stringify` writes it; any other text as it is. */
function fromJson(text: string): unknown {
  if (!/^[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : text;
  } catch {
    return text;
  }
}

/**
 * The path of a resource's construct in its stack, like `Api/BearerKeys`; its logical id where the
 * template has no path.
 */
export function constructPath({ Resources }: Template, id: string): string {
  const path: string = Resources[id]?.["Metadata"]?.["aws:cdk:path"] ?? id;
  return path.replace(/^[^/]*\//, "").replace(/\/Resource$/, "");
}

/** The innermost values of a part of a template, each with its property's path. */
export function leaves(
  value: unknown,
  property = "",
): [property: string, value: unknown][] {
  if (typeof value !== "object" || value === null) return [[property, value]];
  return Object.entries(value).flatMap(([key, inner]) =>
    leaves(inner, property === "" ? key : `${property}.${key}`),
  );
}
