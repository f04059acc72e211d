import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { hasProc } from "./processes.ts";

const checks = {
  "requests for Python": () =>
    spawnSync("python3", ["-c", "import requests"]).status === 0,
  boto3: () => spawnSync("python3", ["-c", "import boto3"]).status === 0,
  openssl: () => spawnSync("openssl", ["version"]).status === 0,
  git: () => spawnSync("git", ["--version"]).status === 0,
  "/dev/full": () => existsSync("/dev/full"),
  "/proc": hasProc,
  "/proc or ps": () =>
    hasProc() || spawnSync("ps", ["-p", `${process.pid}`]).status === 0,
};

/** Whether this machine has a thing. If not, prints what goes untested. */
export function machineHas(thing: keyof typeof checks, untested: string) {
  const has = checks[thing]();
  if (!has) reportSkipped(thing, untested);
  return has;
}

export function reportSkipped(thing: string, untested: string) {
  console.warn(`Skipped, as there is no ${thing}: ${untested}`);
}
