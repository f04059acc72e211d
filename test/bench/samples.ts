import { readFileSync } from "node:fs";

/** The middle of the samples. */
export function median(samples: number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  if (sorted.length % 2 === 1) return upper;
  const lower = sorted[middle - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** How long something takes, in milliseconds. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}

/**
 * Takes samples of several things in turn, so that whatever else the machine does falls on all of
 * them alike, and the samples of one round can be compared. The first round warms up, and is thrown
 * away.
 */
export async function inTurn<Name extends string, Sample>(
  rounds: number,
  names: readonly Name[],
  takeSample: (name: Name) => Promise<Sample>,
): Promise<Record<Name, Sample[]>> {
  const samples = {} as Record<Name, Sample[]>;
  for (const name of names) samples[name] = [];
  for (let round = 0; round <= rounds; round += 1) {
    // Every other round goes backwards, so that none always follows the same other one.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const sample = await takeSample(name);
      if (round > 0) samples[name].push(sample);
    }
  }
  return samples;
}

/** What `of` finds in each sample. */
export function mapSamples<Name extends string, Sample>(
  samples: Record<Name, Sample[]>,
  of: (sample: Sample) => number,
): Record<Name, number[]> {
  const mapped = {} as Record<Name, number[]>;
  for (const name in samples) mapped[name] = samples[name].map(of);
  return mapped;
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
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return Number(kilobytes) / 1024;
}
