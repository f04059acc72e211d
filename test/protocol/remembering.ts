const numbers = new Map<string, number>();
const texts = new WeakMap<object, string>();

/** A short text, equal for values with equal JSON. Objects must not change later: theirs is kept. */
export function identify(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(identify)}]`;
  if (!(value instanceof Object)) return JSON.stringify(value);
  return texts.get(value) ?? identifyObject(value);
}

function identifyObject(value: object) {
  const json = JSON.stringify(value);
  const number = numbers.get(json) ?? numbers.size;
  numbers.set(json, number);
  texts.set(value, `#${number}`);
  return `#${number}`;
}

/** A function that is carried out once for each list of arguments, which JSON tells apart. */
export function remembering<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Result,
) {
  const known = new Map<string, Result>();
  return (...given: Arguments) => {
    const key = identify(given);
    const result = known.get(key) ?? work(...given);
    known.set(key, result);
    return result;
  };
}
