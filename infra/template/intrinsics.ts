import { z } from "zod";

/** Looks up a resource or parameter of a template. Undefined: it has no meaning on one machine. */
export interface LookUp {
  reference(id: string): string | undefined;
  attribute(id: string, name: string): string | undefined;
}

/** The result of an intrinsic function without a value on one machine. Only an ignored property may have it. */
export class Unresolved {
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }
}

/** A part of a template with its intrinsic functions replaced by their results. */
export function resolveIntrinsics(part: unknown, lookUp: LookUp): unknown {
  if (Array.isArray(part)) return part.map((item) => resolveIntrinsics(item, lookUp));
  if (typeof part !== "object" || part === null) return part;
  const resolved = Object.entries(part).map(([key, value]) => [key, resolveIntrinsics(value, lookUp)] as const);
  const [[name, argument] = ["", undefined], ...others] = resolved;
  const isCall = others.length === 0 && (name === "Ref" || name.startsWith("Fn::"));
  return isCall ? call(name, argument, lookUp) : Object.fromEntries(resolved);
}

function call(name: string, argument: unknown, lookUp: LookUp): unknown {
  const unresolved = [argument].flat(2).find((part) => part instanceof Unresolved);
  const result = functions(lookUp)[name]?.safeParse(argument).data;
  return unresolved ?? result ?? new Unresolved(`${name} of ${JSON.stringify(argument)}`);
}

/** The intrinsic functions that the stack uses: the schema of each one's arguments, and its result. */
function functions({ reference, attribute }: LookUp): Record<string, z.ZodType> {
  return {
    Ref: z.string().transform(reference),
    "Fn::GetAtt": z.tuple([z.string(), z.string()]).transform(([id, name]) => attribute(id, name)),
    "Fn::Join": z.tuple([z.string(), z.array(z.string())]).transform(([separator, texts]) => texts.join(separator)),
    "Fn::Select": z.tuple([z.number(), z.array(z.string())]).transform(([index, texts]) => texts[index]),
    "Fn::Split": z.tuple([z.string(), z.string()]).transform(([separator, text]) => text.split(separator)),
  };
}
