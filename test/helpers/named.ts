/** A part of a template with names instead of references to other resources. */
export function named(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(named);
  if (typeof part !== "object" || part === null) return part;
  if ("Ref" in part) return constructId(String(part.Ref));
  if ("Fn::GetAtt" in part) return attributeName(part["Fn::GetAtt"]);
  if ("Fn::Join" in part) return joined(part["Fn::Join"]);
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, named(value)]),
  );
}

function attributeName(reference: unknown): string {
  const [logicalId, ...attribute] = reference as string[];
  return [constructId(String(logicalId)), ...attribute].join(".");
}

function joined(join: unknown): string {
  const [separator, parts] = join as [string, unknown[]];
  return parts.map(named).join(separator);
}

/** The id of a resource's construct. */
export function constructId(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}
