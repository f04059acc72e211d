import { failWith } from "../fail-with.ts";

/** The use of one process at one moment: memory in megabytes, open handles by count. */
export interface Usage {
  memory: number;
  handles: number;
}

/** How far the last third of a run may exceed its second third. */
const allowed = { memory: (level: number): number => level * 1.1 + 5, handles: (level: number): number => level + 2 };

/** The memory and the handles of a process in the last two thirds of a run, a line for each, and whether it grew. */
function growth(name: string, usages: Usage[]): { line: string; grew: boolean }[] {
  const third = Math.floor(usages.length / 3);
  return (["memory", "handles"] as const).map((what) => {
    const [before, after] = [usages.slice(third, -third), usages.slice(-third)].map((part) => median(part, what));
    return {
      line: `${name}: ${what} ${before} in the second third, ${after} in the last`,
      grew: before === undefined || after === undefined || after > allowed[what](before),
    };
  });
}

function median(usages: Usage[], what: keyof Usage): number | undefined {
  return usages.map((usage) => usage[what]).sort((a, b) => a - b)[Math.floor(usages.length / 2)];
}

/** The responses that clients were sent. */
interface Responses {
  total: number;
  lines(): string[];
}

/** The responses and histories that the clients of a load saw. */
interface Seen {
  responses: Responses;
  histories: { summary: string };
  wrong: string[];
}

/** Prints what clients were sent, then concludes with what was wrong of it. */
export function concludeLoad(summary: string, { responses, histories, wrong }: Seen, troubles: string[]): void {
  for (const line of responses.lines()) console.log(line);
  console.log(histories.summary);
  conclude(summary, responses, [...wrong, ...troubles]);
}

/** Prints how each process was at the end of a load, then concludes with it; those that grew are wrong. */
export function concludeSoak(summary: string, seen: Seen, processes: Map<string, Usage[]>, troubles: string[]): void {
  const parts = [...processes].flatMap(([name, usages]) => growth(name, usages));
  for (const { line } of parts) console.log(line);
  const grew = parts.filter((part) => part.grew).map(({ line }) => `grew: ${line}`);
  concludeLoad(summary, seen, [...troubles, ...grew]);
}

/**
 * Prints the summary of a run and the first ten things that were wrong. Anything wrong makes the exit code 1, and so does
 * a run without a response.
 *
 * @param wrong what clients saw, what the stack logged, and what else went wrong with it.
 */
export function conclude(summary: string, responses: Responses, wrong: string[]): void {
  console.log(`${summary}: ${wrong.length}`);
  failWith([...(responses.total === 0 ? ["There was no response to check"] : []), ...wrong].slice(0, 10));
}
