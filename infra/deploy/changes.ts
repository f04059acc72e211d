import { isDeepStrictEqual } from "node:util";
import type { fullDiff, Resource, ResourceDifference } from "@aws-cdk/cloudformation-diff";
import { constructPath, type Template } from "./template.ts";

/** One difference between two templates. */
export interface Change {
  kind: "added" | "removed" | "replaced" | "changed";
  /** The resource's logical id, or the name of an output or a section. */
  id: string;
  /** The resource's type; `Output`, or the name of a section, for anything else. */
  type: string;
  /** Its construct's path, like `Api/BearerKeys`; for an output, like `Outputs.BaseUrl`. */
  path: string;
  /** Where it differs, like `Environment.Variables.LEVEL`; empty when all of it does. */
  property: string;
  was: unknown;
  is: unknown;
  /** The resource as it will be, or was. */
  resource?: Resource | undefined;
}

type Difference = Pick<Change, "property" | "was" | "is">;
type Differences = ReturnType<typeof fullDiff>;

/**
 * Lists how two templates differ.
 *
 * @param diff both as compared by `cloudformation-diff`, which knows which changes replace.
 */
export function listChanges(deployed: Template, next: Template, diff: Differences): Change[] {
  const changes: Change[] = [];
  diff.resources.forEachDifference((id, change) => {
    const { oldValue, newValue } = change;
    const type = (oldValue ?? newValue)?.Type ?? "";
    const path = constructPath(oldValue ? deployed : next, id);
    const about = { id, type, path, resource: newValue ?? oldValue };
    for (const difference of differences(flat(oldValue), flat(newValue))) {
      const kind = kindOf(difference, replacedProperties(change));
      changes.push({ ...about, ...difference, kind });
    }
  });
  diff.outputs.forEachDifference((id, { oldValue, newValue }) => {
    const about = { id, type: "Output", path: `Outputs.${id}` };
    for (const difference of differences(oldValue, newValue)) {
      changes.push({ ...about, ...difference, kind: kindOf(difference) });
    }
  });
  for (const { property, was, is } of differences(sections(deployed), sections(next))) {
    const [section = "", ...rest] = property.split(".");
    const about = { id: section, type: section, path: section, property: rest.join(".") };
    changes.push({ ...about, kind: "changed", was, is });
  }
  return changes;
}

/** Everything but resources and outputs: parameters, conditions, mappings ... */
function sections({ Resources: _resources, Outputs: _outputs, ...others }: Template) {
  return others;
}

/** The attributes that any resource can have. A type's own property may be called the same. */
const attributeNames = new Set(["Condition", "DependsOn", "Metadata", "Type"]);

/** A resource's properties and attributes, side by side. */
function flat(resource: Resource | undefined) {
  if (!resource) return undefined;
  const { Properties = {}, ...attributes } = resource;
  const properties = Object.entries(Properties).map(([name, value]) => [
    attributeNames.has(name) ? `Properties.${name}` : name,
    value,
  ]);
  return { ...Object.fromEntries(properties), ...attributes };
}

/** Lists the innermost members that differ. A list that grows or shrinks differs as a whole. */
function differences(was: unknown, is: unknown, property = ""): Difference[] {
  if (isDeepStrictEqual(was, is)) return [];
  const areLists = Array.isArray(was) && Array.isArray(is) && was.length === is.length;
  if (!areLists && !(isObject(was) && isObject(is))) return [{ property, was, is }];
  const before: Record<string, unknown> = { ...was };
  const after: Record<string, unknown> = { ...is };
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    differences(before[key], after[key], property === "" ? key : `${property}.${key}`),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The properties, at the first level, whose change replaces the resource. */
function replacedProperties({ propertyUpdates }: ResourceDifference): string[] {
  return Object.entries(propertyUpdates)
    .filter(([, { changeImpact }]) => /_REPLACE$/.test(changeImpact ?? ""))
    .map(([name]) => name);
}

function kindOf({ property, was, is }: Difference, replaced: string[] = []): Change["kind"] {
  if (property === "" && was === undefined) return "added";
  if (property === "" && is === undefined) return "removed";
  const [name = ""] = property.replace(/^Properties\./, "").split(".");
  return property === "Type" || replaced.includes(name) ? "replaced" : "changed";
}
