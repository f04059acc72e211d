/**
 * The value of a `Ref` to a resource or parameter, or of its attribute; undefined when it has none
 * here.
 */
type LookUp = (id: string, attribute?: string) => string | undefined;

/**
 * A part of a template with its intrinsic functions replaced by their results. Those without one
 * stay as they are.
 */
export function resolveIntrinsics(part: unknown, lookUp: LookUp): unknown {
  // A reviver gets the innermost values first.
  return JSON.parse(JSON.stringify(part ?? null), (_key, value) => {
    if (typeof value !== "object") return value;
    // A call has no other key.
    const name = Object.keys(value ?? {}).join();
    if (!Object.hasOwn(results, name)) return value;
    const texts = [value[name]].flat(2);
    const isResolved = texts.every((text) => typeof text !== "object");
    return isResolved ? (results[name]?.(texts, lookUp) ?? value) : value;
  });
}

/** The results of the intrinsic functions that the stack uses. Their arguments are one flat list. */
const results: Record<string, (texts: string[], lookUp: LookUp) => unknown> = {
  Ref: ([id = ""], lookUp) => lookUp(id),
  "Fn::GetAtt": ([id = "", attribute], lookUp) => lookUp(id, attribute),
  "Fn::Join": ([separator, ...joined]) => joined.join(separator),
  "Fn::Select": ([index, ...list]) => list[Number(index)],
  "Fn::Sub": ([text = ""], lookUp) => {
    const result = text.replace(
      /\$\{([\w:]+)\.?([\w.]+)?\}/g,
      (placeholder, id, attribute) => lookUp(id, attribute) ?? placeholder,
    );
    return /\$\{\w/.test(result) ? undefined : result.replaceAll("${!", "${");
  },
  "Fn::Split": ([separator = "", whole]) => whole?.split(separator),
};
