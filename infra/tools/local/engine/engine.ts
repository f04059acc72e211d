import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import packageJson from "../../../../package.json" with { type: "json" };
import { CommandError } from "../../terminal/errors.ts";
import { freePort } from "../machine/ports.ts";

/**
 * A shell that ends the engine when its standard input closes, which it does even when this process
 * is killed. Only its user can read what the engine writes.
 */
const watchdog =
  'umask 077; exec 3<&0; (read -r _ <&3; kill "$$") >/dev/null 2>&1 & exec "$0" "$@"';

/** Far more than it takes, even on a busy machine. */
const startTimeoutMs = 60_000;

const platform = `${process.platform}-${process.arch}`;
const enginePackage = `@dynoxide/${platform}`;

/** The embedded engine's program, or undefined where its package isn't installed. */
export function enginePath() {
  try {
    return createRequire(import.meta.url).resolve(`${enginePackage}/dynoxide`);
  } catch {
    return undefined;
  }
}

/** Says what to do where there is no embedded engine. */
export function noEngine() {
  const problem =
    enginePackage in packageJson.optionalDependencies
      ? "The DynamoDB engine is not installed. Run npm ci, or"
      : `npm has no DynamoDB engine for this machine (${platform}):`;
  const remedy = "start one and set DYNAMODB_ENDPOINT (infra/tools/local/README.md)";
  return `${problem} ${remedy}`;
}

/**
 * Starts the embedded engine, dynoxide.
 *
 * @param dbFile where the data is kept; without one, in memory.
 * @param program the engine's path, or undefined where its package isn't installed.
 * @throws CommandError when there is no engine for this platform, or it does not start.
 */
export async function startEngine(dbFile?: string, program = enginePath()) {
  if (program === undefined) throw new CommandError(noEngine());
  const host = randomLoopback();
  const storage = dbFile === undefined ? [] : ["--db-path", dbFile];
  while (true) {
    const port = await freePort(host);
    const options = ["--host", host, "--port", `${port}`, ...storage];
    const child = spawn("/bin/sh", ["-c", watchdog, program, ...options], {
      // A group of its own, so that Ctrl-C reaches only the process that stops it.
      detached: true,
      stdio: ["pipe", "ignore", "pipe"],
    });
    const ended = once(child, "exit");
    const stop = async () => {
      child.kill("SIGTERM");
      using _ = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
    };
    using _ = setTimeout(() => child.kill("SIGKILL"), startTimeoutMs);
    const last = await lastLineOfStart(child.stderr);
    if (last.includes("listening on")) {
      return {
        /** Like `http://127.83.5.201:54321`. */
        endpoint: `http://${host}:${port}`,
        /** Resolves when its process has ended. */
        ended,
        stop,
      };
    }
    await stop();
    // Another process has taken the port meanwhile, perhaps on all addresses.
    if (last.includes("in use")) continue;
    const file = dbFile === undefined ? "" : ` with ${dbFile}`;
    throw new CommandError(`The DynamoDB engine did not start${file}: ${last}`);
  }
}

/** The line that says the engine listens, or the last one before its end. */
async function lastLineOfStart(input: Readable) {
  let last = "it said nothing";
  for await (const line of createInterface({ input })) {
    last = line;
    if (line.includes("listening on")) break;
  }
  return last;
}

/**
 * An address of this machine that a page in a browser can't guess, since the engine itself accepts
 * every request. Only Linux has more than one.
 */
function randomLoopback() {
  return process.platform === "linux"
    ? ["127", ...randomBytes(3)].join(".")
    : "127.0.0.1";
}
