import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { browserPath } from "./openapi/page.ts";

const checks = {
  // CI installs one, so there its absence is a failure.
  "Chromium or Chrome": () => browserPath !== undefined || Boolean(process.env["CI"]),
  git: () => spawnSync("git", ["--version"]).status === 0,
  "/dev/full": () => existsSync("/dev/full"),
  "/proc": () => existsSync("/proc/self/status"),
};

/** Whether this machine has what some tests need. Where it hasn't, says what goes untested. */
export function machineHas(thing: keyof typeof checks, untested: string): boolean {
  const has = checks[thing]();
  if (!has) console.warn(`Skipped, for want of ${thing}: ${untested}`);
  return has;
}
