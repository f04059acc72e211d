import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { hasProc } from "./processes.ts";

const checks = {
  "requests for Python": () => pythonHas("requests"),
  boto3: () => pythonHas("boto3"),
  openssl: () => spawnSync("openssl", ["version"]).status === 0,
  git: () => spawnSync("git", ["--version"]).status === 0,
  "/dev/full": () => existsSync("/dev/full"),
  "/proc": hasProc,
  "/proc or ps": () =>
    hasProc() || spawnSync("ps", ["-p", `${process.pid}`]).status === 0,
};

/** Importing it would take longer than most tests. */
function pythonHas(name: string) {
  const code = `import importlib.util as i; exit(not i.find_spec("${name}"))`;
  return spawnSync("python3", ["-c", code]).status === 0;
}

/** Whether this machine has a thing. If not, prints what goes untested. */
export function machineHas(thing: keyof typeof checks, untested: string) {
  const has = checks[thing]();
  if (!has) reportSkipped(thing, untested);
  return has;
}

export function reportSkipped(thing: string, untested: string) {
  console.warn(`Skipped, as there is no ${thing}: ${untested}`);
}
