import { readFileSync } from "node:fs";
import { functionProcesses } from "../helpers/processes.ts";

/** The middle of the samples. */
export function median(samples: number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2;
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

/** The id of the process of a host's function; undefined before its first invocation. */
async function pidOf(name: string): Promise<number | undefined> {
  return (await functionProcesses()).find((process) => process.name === name)?.pid;
}

/**
 * The CPU that the process of a function has used so far, in milliseconds: 0 before its first
 * invocation starts it (proc(5), the fields utime and stime, in hundredths of a second).
 */
export async function cpuSoFar(name: string): Promise<number> {
  const pid = await pidOf(name);
  if (pid === undefined) return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

/** The most memory that the process of a function has had so far, in megabytes (proc(5), VmHWM). */
export async function peakMegabytes(name: string): Promise<number> {
  const status = readFileSync(`/proc/${await pidOf(name)}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
