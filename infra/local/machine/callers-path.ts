import { resolve } from "node:path";

/**
 * Resolves a path against the caller's folder: npm runs scripts in the project's folder, and names
 * the caller's in INIT_CWD.
 */
export function callersPath(path: string): string {
  const script = process.env["npm_lifecycle_event"];
  const underNpm = script === "start" || script === "admin";
  return resolve((underNpm && process.env["INIT_CWD"]) || ".", path);
}
