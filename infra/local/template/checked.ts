import { z } from "zod";
import { StartError } from "../start-error.ts";
import { Unresolved } from "./intrinsics.ts";

type Ignored<Name extends string> = Record<Name, z.ZodOptional<z.ZodUnknown>>;

/** For a strict schema: the properties that change nothing on one machine. It rejects every other that it doesn't list. */
export function ignoring<Name extends string>(...names: Name[]): Ignored<Name> {
  return Object.fromEntries(names.map((name) => [name, z.unknown().optional()])) as Ignored<Name>;
}

/**
 * A part of the template as its schema reads it.
 *
 * @param part with its intrinsic functions resolved.
 * @param where names the part in messages, like `AWS::ApiGateway::Method ListOrders`.
 * @throws StartError naming the first property that the local stack would overlook or does not understand.
 */
export function checked<T>(schema: z.ZodType<T>, part: unknown, where: string): T {
  const result = schema.safeParse(part, { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new StartError(`The local stack does not support ${issue === undefined ? where : describe(issue, where)}`);
}

function describe({ path, ...issue }: z.core.$ZodIssue, where: string): string {
  const owned = (name: PropertyKey[]): string => [...(name.length > 0 ? [name.join(".")] : []), where].join(" of ");
  if (issue.code === "unrecognized_keys") return owned([...path, ...issue.keys.slice(0, 1)]);
  if (issue.input instanceof Unresolved) return `${issue.input.what} in ${owned(path)}`;
  return `${owned(path)}: ${issue.message}`;
}
