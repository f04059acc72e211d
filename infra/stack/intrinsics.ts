import { z } from "zod";

/**
 * The value of a `Ref` to a resource or parameter, or of its attribute; undefined when it has none
 * here.
 */
export type LookUp = (id: string, attribute?: string) => string | undefined;

/**
 * A part of a template with its intrinsic functions replaced by their results. Those without one
 * stay as they are.
 */
export function resolveIntrinsics(part: unknown, lookUp: LookUp): unknown {
  const schemas = functions(lookUp);
  // A reviver gets the innermost values first.
  return JSON.parse(JSON.stringify(part ?? null), (_key, value) => {
    const name = intrinsicName(value);
    return name === undefined ? value : (schemas[name]?.safeParse(value[name]).data ?? value);
  });
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
  const text = z.string();
  const texts = z.array(text);
  return {
    Ref: text.transform((id) => lookUp(id)),
    "Fn::GetAtt": z.tuple([text, text]).transform(([id, name]) => lookUp(id, name)),
    "Fn::Join": z.tuple([text, texts]).transform(([separator, joined]) => joined.join(separator)),
    "Fn::Select": z.tuple([z.number(), texts]).transform(([index, list]) => list[index]),
    "Fn::Split": z.tuple([text, text]).transform(([separator, whole]) => whole.split(separator)),
  };
}
