import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/**
 * An operator's terminal, as operator.sh sets it up: what one block of commands sets, the next one
 * knows.
 */
export interface Shell {
  /** Where the commands run. */
  cwd: string;
  /** With SCRATCH, a folder, and PORT, where MiniStack listens. */
  env: NodeJS.ProcessEnv;
  /** Ends what runs. */
  signal: AbortSignal;
}

const setUp = fileURLToPath(new URL("operator.sh", import.meta.url));

/**
 * Runs a block of commands, and then a check of what became of it.
 *
 * @throws Error with the last that was printed when a command fails or is not found, or when they
 * take ten minutes.
 */
export async function run({ cwd, env, signal }: Shell, block: string, check = ""): Promise<void> {
  signal.throwIfAborted();
  // All that an operator is asked for is a key.
  const script = `. "${setUp}"; set -aeuo pipefail
    {\n${block}\n} > "$PRINTED" <<< "\${KEY-}"
    ${check}
    set +a; export -p > "$SCRATCH/variables"`;
  const bash = spawn("bash", ["--norc", "-c", script], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed = Promise.all([text(bash.stderr), text(bash.stdout)]);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(600_000)]);
  limit.onabort = () => endGroup(bash.pid);
  const [code] = await once(bash, "exit");
  limit.onabort = null;
  endGroup(bash.pid);
  // Once no one is left to print more.
  const lines = [
    ...(await printed),
    await readFile(`${env["SCRATCH"]}/printed`, "utf8").catch(() => ""),
  ]
    .join("\n")
    .split("\n");
  if (code === 0) return;
  throw new Error(
    [limit.aborted ? "Stopped:" : "Failed:", block, check, ...lines.slice(-40)].join("\n"),
  );
}

/** Ends a process and all that it started, unless they are over. */
export function endGroup(id: number | undefined): void {
  try {
    if (id !== undefined) process.kill(-id, "SIGKILL");
  } catch {
    // They are over.
  }
}
