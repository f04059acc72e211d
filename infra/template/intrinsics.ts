import { z } from "zod";

/**
 * The value of a `Ref` to a resource or parameter, or of its attribute; undefined when it has none
 * on one machine.
 */
export type LookUp = (id: string, attribute?: string) => string | undefined;

/**
 * A part of a template with its intrinsic functions replaced by their results. Those without one
 * stay as they are.
 */
export function resolveIntrinsics(part: unknown, lookUp: LookUp): unknown {
  const schemas = functions(lookUp);
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, inner]) => [key, resolve(inner)]);
    const resolved = Object.fromEntries(entries);
    const name = intrinsicName(value);
    if (name === undefined) return resolved;
    return schemas[name]?.safeParse(resolved[name]).data ?? resolved;
  };
  return resolve(part);
}

/** The intrinsic function that a part of a template calls; undefined when it calls none. */
export function intrinsicName(part: unknown): string | undefined {
  const [name = "", ...others] = Object.keys(Object(part));
  return /^(?:Ref|Fn::\w+)$/.test(name) && others.length === 0 ? name : undefined;
}

/**
 * The intrinsic functions that the stack uses: the schema of each one's arguments, and its result.
 */
function functions(lookUp: LookUp): Record<string, z.ZodType> {
  return {
    Ref: z.string().transform((id) => lookUp(id)),
    "Fn::GetAtt": z.tuple([z.string(), z.string()]).transform(([id, name]) => lookUp(id, name)),
    "Fn::Join": z
      .tuple([z.string(), z.array(z.string())])
      .transform(([separator, texts]) => texts.join(separator)),
    "Fn::Select": z
      .tuple([z.number(), z.array(z.string())])
      .transform(([index, texts]) => texts[index]),
    "Fn::Split": z
      .tuple([z.string(), z.string()])
      .transform(([separator, text]) => text.split(separator)),
  };
}
