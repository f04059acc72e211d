/** Ends a bar: the start of the line, which is then erased. */
export const clearedLine = "\u001b[1G\u001b[2K";

/** This many lines of an orders file, in the form an export writes. */
export function makeLines(count: number): string[] {
  const statuses = ["pending", "shipped", "cancelled"];
  return Array.from({ length: count }, (_, at) => {
    const rest = `"petId":${at},"shipDate":"2026-12-01T09:00:00Z","complete":${at % 2 === 0}`;
    return `{"id":${at * 7},${rest},"status":"${statuses[at % 3]}"}`;
  });
}

/** The lines of an orders file, sorted: a table has no order. */
export const sortedLines = (ndjson: string) => ndjson.trimEnd().split("\n").sort();
