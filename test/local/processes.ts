import { readdir, readFile } from "node:fs/promises";

/** The processes that descend from this one, as /proc tells. */
export async function descendants(pid: number): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    const stat = await readFile(`/proc/${entry}/stat`, "utf8").catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    if (parent === pid) found.push(Number(entry), ...(await descendants(Number(entry))));
  }
  return found;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
