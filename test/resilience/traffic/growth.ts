import { readdir, readFile } from "node:fs/promises";
import { median } from "../../bench/samples.ts";
import { functionProcesses } from "../../helpers/processes.ts";

export interface Sample {
  measure: string;
  value: number;
}

/** Measures this process, which is the gateway, and those of the functions. */
export async function measureProcesses(): Promise<Sample[]> {
  const processes = [{ name: "the gateway", pid: process.pid }];
  const functions = await functionProcesses();
  const samples = [...processes, ...functions].map(async ({ name, pid }) => {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const megabytes = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
    const { length } = await readdir(`/proc/${pid}/fd`);
    return [
      { measure: `megabytes of ${name} (${pid})`, value: megabytes },
      { measure: `handles of ${name} (${pid})`, value: length },
    ];
  });
  return (await Promise.all(samples)).flat();
}

/** Prints a line on each measure's growth, and returns the lines of those that grew too much. */
export function growth(samples: Sample[]): string[] {
  const measures = [...Map.groupBy(samples, ({ measure }) => measure)];
  return measures.flatMap(([measure, taken]) => {
    const values = taken.map(({ value }) => value);
    // On top of a tenth.
    const allowed = measure.startsWith("handles") ? 2 : 5;
    const third = Math.floor(values.length / 3);
    const before = median(values.slice(third, -third));
    const after = median(values.slice(-third));
    const line = `${measure}: ${before} in the second third, ${after} in the last`;
    console.log(line);
    return after > 1.1 * before + allowed ? [line] : [];
  });
}
