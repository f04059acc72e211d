/** A function that is carried out once for each list of arguments, which JSON tells apart. */
export function remembering<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Result,
) {
  const known = new Map<string, Result>();
  return (...given: Arguments) => {
    const key = JSON.stringify(given);
    const result = known.get(key) ?? work(...given);
    known.set(key, result);
    return result;
  };
}
