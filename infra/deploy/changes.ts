import { isDeepStrictEqual } from "node:util";
import { fullDiff, type Resource } from "@aws-cdk/cloudformation-diff";
import { isGrant } from "./grants.ts";
import { constructPath, type Template } from "./template.ts";

/** What is compared by itself: a resource, an output, or the rest of a template. */
interface Part {
  /** The resource's type without `AWS::`; `Output`, or `Template` for anything else. */
  type: string;
  /** Its construct's path, like `Api/BearerKeys`; for an output, like `Outputs.BaseUrl`. */
  path: string;
  content: Partial<Resource>;
}

/** One difference between two templates, in a part as it will be, or was. */
export interface Change extends Part {
  kind: "added" | "removed" | "changed";
  /** Where it differs, like `Properties.MemorySize`; empty when all of it does. */
  property: string;
  was: unknown;
  is: unknown;
  /** Whether the change makes a new resource, without what the old one holds. */
  replaces: boolean;
}

/** Lists how two comparable templates differ. */
export function listChanges(deployed: Template, next: Template): Change[] {
  const diff = fullDiff(deployed, next).resources.changes;
  const before = parts(deployed);
  const after = parts(next);
  return Object.entries({ ...before, ...after }).flatMap(([id, part]) => {
    const was = before[id]?.content;
    const is = after[id]?.content;
    const whole = was ? "removed" : "added";
    const kind = was && is ? "changed" : whole;
    return differences(was, is).map((difference) => {
      const [, name = ""] = /^Properties\.(\w+)/.exec(difference.property) ?? [];
      const impact = String(diff[id]?.propertyUpdates[name]?.changeImpact);
      const replaces = difference.property === "Type" || impact.endsWith("_REPLACE");
      return { ...part, kind, replaces, ...difference };
    });
  });
}

/** The parts of a template, those of its resources by their logical ids. */
function parts(template: Template): Record<string, Part> {
  const { Resources, Outputs = {}, ...rest } = template;
  const found: Record<string, Part> = {};
  for (const [id, resource] of Object.entries(Resources)) {
    const type = resource.Type.replace("AWS::", "");
    const content = { Properties: {}, ...resource };
    found[id] = { type, path: constructPath(template, id), content };
  }
  for (const [id, content] of Object.entries(Outputs)) {
    const path = `Outputs.${id}`;
    found[path] = { type: "Output", path, content };
  }
  return { ...found, "": { type: "Template", path: "Template", content: rest } };
}

type Difference = Pick<Change, "property" | "was" | "is">;

/**
 * Lists the innermost members that differ. What grants something differs as a whole, and so does a
 * list of grants or one that grows or shrinks.
 */
function differences(was: unknown, is: unknown, property = ""): Difference[] {
  if (isDeepStrictEqual(was, is)) return [];
  const areLists = Array.isArray(was) && Array.isArray(is) && was.length === is.length;
  const areObjects = [was, is].every(
    (value) => Object(value) === value && !Array.isArray(value),
  );
  if (!(areLists || areObjects) || [was, is].flat().some(isGrant))
    return [{ property, was, is }];
  const before: Record<string, unknown> = Object(was);
  const after: Record<string, unknown> = Object(is);
  return Object.keys({ ...before, ...after }).flatMap((key) =>
    differences(before[key], after[key], property === "" ? key : `${property}.${key}`),
  );
}
