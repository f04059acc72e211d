import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

export function hasProc() {
  return existsSync("/proc/self/status");
}

interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** The ids of a process's descendants whose command line contains a text. */
export async function descendants(pid: number, text = "") {
  return below(pid, await allProcesses())
    .filter(({ command }) => command.includes(text))
    .map((descendant) => descendant.pid);
}

/** The processes of this process's stacks, each with its function's name. */
export async function functionProcesses() {
  // The last of their arguments is the function's name; in the bench, it has spaces.
  return below(process.pid, await allProcesses())
    .filter(({ command }) => command.includes("rapid-client.mjs"))
    .map(({ pid, command }) => ({ name: /[^\0]+(?=\0$)|\w+$/.exec(command)?.[0], pid }));
}

export function isAlive(pid: number) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function below(pid: number, all: Process[]): Process[] {
  return all
    .filter(({ parent }) => parent === pid)
    .flatMap((child) => [child, ...below(child.pid, all)]);
}

/** From /proc where there is one, as small Linux images have no `ps`. */
async function allProcesses() {
  if (!hasProc()) return await listedByPs();
  // Promises would cost ten times as much as the reading.
  return readdirSync("/proc").map(Number).filter(Boolean).map(readProc);
}

function readProc(pid: number) {
  const parent = Number(/^PPid:\t(\d+)$/m.exec(readText(`/proc/${pid}/status`))?.[1]);
  return { pid, parent, command: readText(`/proc/${pid}/cmdline`) };
}

function readText(file: string) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // A process that has ended meanwhile is nobody's child.
    return "";
  }
}

async function listedByPs() {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,command="]);
  return [...stdout.matchAll(/^ *(\d+) +(\d+) (.*)$/gm)].map(
    ([, pid, parent, command = ""]) => ({
      pid: Number(pid),
      parent: Number(parent),
      command,
    }),
  );
}
