import { resolve } from "node:path";

/** A path as its caller means it: `npm run` works in the project's folder, and says in INIT_CWD where it was called. */
export function callersPath(path: string): string {
  const underNpm = process.env["npm_lifecycle_event"] === "admin";
  return resolve((underNpm && process.env["INIT_CWD"]) || ".", path);
}
