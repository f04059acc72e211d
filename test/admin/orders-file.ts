/** Comes before and after each drawing of a progress line: goes to its start, and erases it. */
export const erased = "\u001b[1G\u001b[2K";

/** Makes this many lines of an orders file, as an export writes them. */
export function makeLines(count: number): string[] {
  const statuses = ["pending", "shipped", "cancelled"];
  return Array.from({ length: count }, (_, at) => {
    const rest = `"petId":${at},"shipDate":"2026-12-01T09:00:00Z","complete":${at % 2 === 0}`;
    return `{"id":${at * 7},${rest},"status":"${statuses[at % 3]}"}`;
  });
}

/** The lines of an orders file, sorted: a table has no order. */
export const sortedLines = (ndjson: string) => ndjson.trimEnd().split("\n").sort();
