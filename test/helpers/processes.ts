import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Whether this machine lists its processes in /proc. */
export function hasProc(): boolean {
  return existsSync("/proc/self/status");
}

type Process = Awaited<ReturnType<typeof allProcesses>>[number];

/**
 * The processes that descend from this one, or those of them whose command line contains a text.
 */
export async function descendants(pid: number, command = ""): Promise<number[]> {
  const found = below(pid, await allProcesses()).filter((process) =>
    process.command.includes(command),
  );
  return found.map(({ pid }) => pid);
}

/** The processes of the functions of this one's stacks, each with its function's name. */
export async function functionProcesses(): Promise<{ name: string; pid: number }[]> {
  const found = below(process.pid, await allProcesses()).filter(({ command }) =>
    command.includes("rapid-client.mjs"),
  );
  return found.map(({ pid, command }) => ({ name: /\w+(?=\W*$)/.exec(command)?.[0] ?? "", pid }));
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The resident memory of a process. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => undefined);
  const kilobytes =
    status === undefined
      ? await ps("-p", `${pid}`, "-o", "rss=")
      : /VmRSS:\s+(\d+)/.exec(status)?.[1];
  return Number(kilobytes) / 1024;
}

function below(pid: number, all: Process[]): Process[] {
  return all
    .filter(({ parent }) => parent === pid)
    .flatMap((child) => [child, ...below(child.pid, all)]);
}

/** From /proc where there is one, as small Linux images have no `ps`. */
async function allProcesses() {
  if (!hasProc()) {
    const lines = await ps("-A", "-o", "pid=,ppid=,command=");
    return [...lines.matchAll(/^ *(\d+) +(\d+) (.*)$/gm)].map(([, pid, parent, command = ""]) => ({
      pid: Number(pid),
      parent: Number(parent),
      command,
    }));
  }
  const pids = (await readdir("/proc")).map(Number).filter(Boolean);
  return Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      return {
        pid,
        parent,
        command: await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
      };
    }),
  );
}

async function ps(...args: string[]): Promise<string> {
  return (await promisify(execFile)("ps", args)).stdout;
}
