import { readFileSync } from "node:fs";

const ticksPerSecond = 100;

/** Milliseconds of CPU that a process has used, in user and kernel mode (proc(5), fields utime and stime). */
export function cpuMilliseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/**
 * Does work in rounds, and gives its result with the milliseconds of CPU that each process used for a round. What it used
 * before does not count.
 */
export async function cpuPerRound<Name extends string, Result>(
  pids: Record<Name, number>,
  rounds: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; cpu: Record<Name, number> }> {
  const entries = Object.entries<number>(pids).map(([name, pid]) => ({ name, pid, before: cpuMilliseconds(pid) }));
  const result = await work();
  const cpu = entries.map(({ name, pid, before }) => [name, (cpuMilliseconds(pid) - before) / rounds]);
  return { result, cpu: Object.fromEntries(cpu) };
}

/** The most memory that a process has had so far, in megabytes (proc(5), VmHWM). */
export function peakMegabytes(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}
