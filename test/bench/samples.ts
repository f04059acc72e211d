import { readFileSync } from "node:fs";
import { functionProcesses } from "../helpers/processes.ts";

export function median(samples: number[]) {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2;
}

/** Milliseconds. */
export async function timed(run: () => Promise<unknown>) {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}

/** Samples in turn, so what else the machine does falls on all alike. The first round warms up. */
export async function inTurn<Name extends string, Sample>(
  rounds: number,
  names: readonly Name[],
  takeSample: (name: Name) => Promise<Sample>,
) {
  const samples = {} as Record<Name, Sample[]>;
  for (const name of names) samples[name] = [];
  for (let round = 0; round <= rounds; round += 1) {
    // Every other round goes backwards: none always follows the same one.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const sample = await takeSample(name);
      if (round > 0) samples[name].push(sample);
    }
  }
  return samples;
}

/** Undefined before the function's first invocation. */
async function pidOf(name: string) {
  return (await functionProcesses()).find((process) => process.name === name)?.pid;
}

/** Milliseconds of a function's CPU (proc(5): utime and stime). */
export async function cpuSoFar(name: string) {
  const pid = await pidOf(name);
  if (pid === undefined) return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return 10 * (Number(fields[13]) + Number(fields[14]));
}

/** The most memory of a function's process (proc(5): VmHWM). */
export async function peakMegabytes(name: string) {
  const status = readFileSync(`/proc/${await pidOf(name)}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
