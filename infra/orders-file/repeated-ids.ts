/** The order ids that are there more than once. Takes another eight bytes for each. */
export function repeatedIds(ids: bigint[]): Set<bigint> {
  const sorted = BigInt64Array.from(ids).sort();
  return new Set(sorted.filter((id, at) => at > 0 && id === sorted[at - 1]));
}
