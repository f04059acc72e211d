import { readFileSync } from "node:fs";

/** The middle of the samples. */
export function median(samples: number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The range that has the median of what was sampled in it with 95 % confidence, whatever its
 * distribution: samples as far from both ends as the binomial distribution puts the median.
 */
export function spread(samples: number[]): [least: number, most: number] {
  const sorted = samples.toSorted((a, b) => a - b);
  const fromEnd = Math.max(1, Math.floor((sorted.length - 1.96 * Math.sqrt(sorted.length)) / 2));
  return [sorted[fromEnd - 1] ?? Number.NaN, sorted.at(-fromEnd) ?? Number.NaN];
}

/** How long something takes, in milliseconds. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}

/**
 * Samples several things in turn, so that whatever else the machine does falls on all alike, and
 * samples of one round make pairs. The first round warms up and is thrown away.
 */
export async function inTurn<Name extends string, Sample>(
  count: number,
  things: Record<Name, () => Promise<Sample>>,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(things) as Name[];
  const samples = Object.fromEntries(names.map((name): [Name, Sample[]] => [name, []])) as Record<
    Name,
    Sample[]
  >;
  for (let round = 0; round <= count; round += 1) {
    // The order turns round from one round to the next.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const sample = await things[name]();
      if (round > 0) samples[name].push(sample);
    }
  }
  return samples;
}

const ticksPerSecond = 100;

/**
 * Milliseconds of CPU that a process has used, in user and kernel mode (proc(5), fields utime and
 * stime).
 */
export function cpuMilliseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** The most memory that a process has had so far, in megabytes (proc(5), VmHWM). */
export function peakMegabytes(pid: number): number {
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}
