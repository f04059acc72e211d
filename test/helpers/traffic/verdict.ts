import { failWith } from "../fail-with.ts";
import { troubles } from "../trouble.ts";

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

/** Samples the use of processes 60 times, evenly over the minutes, by the names of the processes. */
export async function sampleUsage(
  minutes: number,
  use: () => Promise<[name: string, Usage][]>,
  wait: (milliseconds: number) => Promise<void>,
): Promise<Map<string, Usage[]>> {
  const samples = 60;
  const history = new Map<string, Usage[]>();
  for (let sample = 0; sample < samples; sample += 1) {
    await wait((minutes * 60_000) / samples);
    for (const [name, usage] of await use()) history.set(name, [...(history.get(name) ?? []), usage]);
  }
  return history;
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

/** The result of a run of traffic. */
export interface Findings {
  /** A description of the run, before the count of what was wrong. */
  summary: string;
  /** Lines to print above that. */
  lines: string[];
  /** How many responses there were. */
  responses: number;
  wrong: string[];
}

/** The responses to the clients of a load, and those that were wrong. */
export function loadFindings(summary: string, { responses, histories, wrong }: Seen): Findings {
  return { summary, lines: [...responses.lines(), histories.summary], responses: responses.total, wrong };
}

/** The same, and how each process was at the end of the load; those that grew are wrong. */
export function soakFindings(summary: string, seen: Seen, processes: Map<string, Usage[]>): Findings {
  const parts = [...processes].flatMap(([name, usages]) => growth(name, usages));
  const grew = parts.filter((part) => part.grew).map(({ line }) => `grew: ${line}`);
  const { lines, wrong, ...others } = loadFindings(summary, seen);
  return { ...others, lines: [...parts.map(({ line }) => line), ...lines], wrong: [...wrong, ...grew] };
}

/**
 * Starts a stack, runs traffic on it, and prints the findings with the first ten things that were wrong. Anything wrong,
 * the trouble that the stack logged included, makes the exit code 1, and so does a run without a response.
 */
export async function conclude<Stack extends { stop(): Promise<void> }>(
  start: (log: (line: string) => void) => Promise<Stack>,
  run: (stack: Stack) => Promise<Findings>,
): Promise<void> {
  const logged: string[] = [];
  const stack = await start((line) => void logged.push(...troubles([line])));
  try {
    const { summary, lines, responses, ...found } = await run(stack);
    const wrong = [...found.wrong, ...logged];
    for (const line of lines) console.log(line);
    console.log(`${summary}: ${wrong.length}`);
    failWith([...(responses === 0 ? ["There was no response to check"] : []), ...wrong].slice(0, 10));
  } finally {
    await stack.stop();
  }
}
