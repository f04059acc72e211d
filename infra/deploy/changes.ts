import { isDeepStrictEqual } from "node:util";
import { fullDiff, type Resource } from "@aws-cdk/cloudformation-diff";
import { constructPath, isGrant, join, type Leaf, type Parts } from "./template.ts";

/** One difference between two templates, in a part as it will be, or was. */
export interface Change extends Difference {
  kind: "added" | "removed" | "changed";
  /** The part's type without `AWS::`. */
  type: string;
  /** Its construct's path, like `Api/BearerKeys`; for an output, like `Outputs.BaseUrl`. */
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
  const diff = fullDiff({ Resources: before }, { Resources: after }).resources.changes;
  return Object.entries({ ...before, ...after }).flatMap(([id, content]) => {
    const whole = id in before ? "removed" : "added";
    const kind = id in before && id in after ? "changed" : whole;
    const path = constructPath(id, content);
    const type = content.Type.replace("AWS::", "");
    return differences(before[id], after[id]).map((difference) => {
      const [, name = ""] = /^Properties\.(\w+)/.exec(difference.property) ?? [];
      const impact = String(diff[id]?.propertyUpdates[name]?.changeImpact);
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
  const shape = shapeOf(was);
  const isWhole = shape === false || shape !== shapeOf(is);
  if (isWhole || [was, is].flat().some(isGrant)) return [{ property, was, is }];
  return Object.keys({ ...Object(was), ...Object(is) }).flatMap((key) =>
    differences(Object(was)[key], Object(is)[key], join(property, key)),
  );
}

/** A list's length, or whether a value is an object. */
function shapeOf(value: unknown): number | boolean {
  return Array.isArray(value) ? value.length : Object(value) === value;
}
