import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/**
 * An operator's terminal, as operator.sh sets it up: each block of commands has the variables that
 * the blocks before it set.
 */
export interface Shell {
  cwd: string;
  /** With SCRATCH, a folder, and PORT, where MiniStack listens. */
  env: NodeJS.ProcessEnv;
  /** Ends what runs. */
  signal: AbortSignal;
}

const setUp = fileURLToPath(new URL("operator.sh", import.meta.url));

/** Throws with the last printed lines when a command fails, or when they take ten minutes. */
export async function run({ cwd, env, signal }: Shell, block: string, check = "") {
  signal.throwIfAborted();
  // Standard input has the key: commands ask an operator for nothing else.
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
  const output = Promise.all([text(bash.stderr), text(bash.stdout)]);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(600_000)]);
  limit.onabort = () => endGroup(bash.pid);
  const [code] = await once(bash, "exit");
  limit.onabort = null;
  endGroup(bash.pid);
  // Ends once no process is left that could print more.
  const [stderr, stdout] = await output;
  if (code === 0) return;
  const printed = await readFile(`${env["SCRATCH"]}/printed`, "utf8").catch(() => "");
  const lines = [stderr, stdout, printed].join("\n").split("\n");
  const reason = limit.aborted ? "Stopped:" : "Failed:";
  throw new Error([reason, block, check, ...lines.slice(-40)].join("\n"));
}

/** Kills a process and all that it started, unless they have ended. */
export function endGroup(id: number | undefined) {
  try {
    if (id !== undefined) process.kill(-id, "SIGKILL");
  } catch {
    // They have ended.
  }
}
