import { isDeepStrictEqual } from "node:util";
import { fullDiff, type Resource } from "@aws-cdk/cloudformation-diff";
import { isGrant } from "./grants.ts";
import { constructPath, type Template } from "./template.ts";

/** One difference between two templates. */
export interface Change {
  kind: "added" | "removed" | "changed";
  /** The resource's type without `AWS::`; `Output`, or `Template` for anything else. */
  type: string;
  /** Its construct's path, like `Api/BearerKeys`; for an output, like `Outputs.BaseUrl`. */
  path: string;
  /** Where it differs, like `Properties.MemorySize`; empty when all of it does. */
  property: string;
  was: unknown;
  is: unknown;
  /** The resource as it will be, or was. */
  resource: Partial<Resource>;
  /** Whether the change makes a new resource, without what the old one holds. */
  replaces: boolean;
}

/** Lists how two comparable templates differ. */
export function listChanges(deployed: Template, next: Template): Change[] {
  const diff = fullDiff(deployed, next).resources.changes;
  const before = parts(deployed);
  const after = parts(next);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const was = before.get(id);
    const is = after.get(id);
    const { type = "", path = "", content: resource = {} } = is ?? was ?? {};
    const whole = was ? "removed" : "added";
    const kind = was && is ? "changed" : whole;
    return differences(was?.content, is?.content).map((difference) => {
      const [, name = ""] = /^Properties\.(\w+)/.exec(difference.property) ?? [];
      const impact = String(diff[id]?.propertyUpdates[name]?.changeImpact);
      const replaces = difference.property === "Type" || impact.endsWith("_REPLACE");
      return { kind, type, path, resource, replaces, ...difference };
    });
  });
}

/** What is compared by itself: each resource, each output, and the rest of a template. */
function parts(template: Template) {
  const { Resources, Outputs = {}, ...rest } = template;
  return new Map<string, { type: string; path: string; content: Partial<Resource> }>([
    ...Object.entries(Resources).map(([id, resource]) => {
      const type = resource.Type.replace("AWS::", "");
      const content = { Properties: {}, ...resource };
      return [id, { type, path: constructPath(template, id), content }] as const;
    }),
    ...Object.entries(Outputs).map(([id, content]) => {
      const path = `Outputs.${id}`;
      return [path, { type: "Output", path, content }] as const;
    }),
    ["", { type: "Template", path: "Template", content: rest }],
  ]);
}

type Difference = Pick<Change, "property" | "was" | "is">;

/**
 * Lists the innermost members that differ. What grants something differs as a whole, and so does a
 * list of grants or one that grows or shrinks.
 */
function differences(was: unknown, is: unknown, property = ""): Difference[] {
  if (isDeepStrictEqual(was, is)) return [];
  const areLists = Array.isArray(was) && Array.isArray(is) && was.length === is.length;
  const areObjects = [was, is].every((value) => Object(value) === value && !Array.isArray(value));
  if (!(areLists || areObjects) || [was, is].flat().some(isGrant)) return [{ property, was, is }];
  const before: Record<string, unknown> = Object(was);
  const after: Record<string, unknown> = Object(is);
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    differences(before[key], after[key], property === "" ? key : `${property}.${key}`),
  );
}
