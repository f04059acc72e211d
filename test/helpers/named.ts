/** A part of a template with names instead of references to other resources. */
export function named(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(named);
  if (typeof part !== "object" || part === null) return part;
  const { Ref, "Fn::GetAtt": attribute, "Fn::Join": join } = Object(part);
  if (Ref !== undefined) return constructId(Ref);
  if (attribute) return attribute.map(constructId).join(".");
  if (join) return join[1].map(named).join(join[0]);
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, named(value)]),
  );
}

/** The id of a resource's construct. */
export function constructId(logicalId: string) {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}
