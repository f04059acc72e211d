/** A part of a template with names instead of references to other resources. */
export function named(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(named);
  if (typeof part !== "object" || part === null) return part;
  const [[key, value] = ["", undefined]] = Object.entries(part);
  if (key === "Ref") return constructId(String(value));
  if (key === "Fn::GetAtt" && Array.isArray(value))
    return [constructId(value[0]), ...value.slice(1)].join(".");
  if (key === "Fn::Join" && Array.isArray(value))
    return (named(value[1]) as string[]).join(value[0]);
  return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, named(inner)]));
}

/** The id of a resource's construct. */
export function constructId(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}
