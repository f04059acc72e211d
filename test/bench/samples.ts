import { readdirSync, readFileSync } from "node:fs";
import { functionProcesses } from "../helpers/processes.ts";

export function median(samples: number[]) {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2;
}

/** Measures a run in milliseconds, by the clock and of CPU. @param cpu what was used so far. */
export async function sampleOf(run: () => Promise<unknown>, cpu = () => 0) {
  const cpuBefore = cpu();
  const begun = performance.now();
  await run();
  const time = performance.now() - begun;
  return { time, CPU: cpu() - cpuBefore };
}

/** Samples in turn, so what else the machine does falls on all alike. The first round warms up. */
export async function inTurn<Name extends string, Sample>(
  rounds: number,
  names: readonly Name[],
  takeSample: (name: Name, round: number) => Promise<Sample>,
) {
  const samples = {} as Record<Name, Sample[]>;
  for (const name of names) samples[name] = [];
  for (let round = 0; round <= rounds; round += 1) {
    // Every other round goes backwards: none always follows the same one.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const sample = await takeSample(name, round);
      if (round > 0) samples[name].push(sample);
    }
  }
  return samples;
}

/** Undefined before the function's first invocation. */
async function pidOf(name: string) {
  return (await functionProcesses()).find((process) => process.name === name)?.pid;
}

/**
 * Measures runs of functions. Their CPU is all since the run before, because a process works on
 * after its response.
 */
export function functionSampler() {
  const processes = new Map<string, { pid: number | undefined; used: number }>();
  return async (name: string, run: () => Promise<unknown>) => {
    const { time } = await sampleOf(run);
    const { pid, used } = processes.get(name) ?? { pid: await pidOf(name), used: 0 };
    const usedNow = cpuOf(pid);
    processes.set(name, { pid, used: usedNow });
    return { time, CPU: usedNow - used };
  };
}

/** Milliseconds of CPU that the threads of a process have had. */
export function cpuOf(pid: number | undefined) {
  if (pid === undefined) return 0;
  const threads = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(threads).map((thread) =>
    Number.parseInt(readFileSync(`${threads}/${thread}/schedstat`, "utf8"), 10),
  );
  return nanoseconds.reduce((sum, value) => sum + value) / 1e6;
}

/** The most memory of a function's process (proc(5): VmHWM). */
export async function peakMegabytes(name: string) {
  const status = readFileSync(`/proc/${await pidOf(name)}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
