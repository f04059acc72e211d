import { execFile } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";

export interface Step {
  id?: string;
  name?: string;
  if?: string;
  env?: Record<string, string>;
  uses?: string;
  with?: Record<string, unknown>;
  run?: string;
}

/** An expression in a workflow, which GitHub replaces with its value. */
export const expression = (text: string): string => `$\{{ ${text} }}`;

/** @returns the text of a workflow's file, its jobs by name, and the rest of it. */
export async function readWorkflow(name: string) {
  const text = await readFile(new URL(`../../.github/workflows/${name}`, import.meta.url), "utf8");
  const { jobs, ...rest } = parse(text);
  return { text, jobs, ...rest };
}

/** Where a job downloads the build to. */
export function downloadPath({ steps }: { steps: Step[] }): string {
  const download = steps.find(({ uses }) => uses?.startsWith("actions/download-artifact@"));
  return String(download?.with?.["path"]);
}

/** A new directory. All of them are deleted at the end of the run (helpers/assembly.ts). */
export async function temporaryDirectory(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "pet-store-orders-workflow-"));
}

/**
 * Runs the script of a job's step as GitHub does on Linux; programs in its directory come first.
 *
 * @returns whether it succeeded, and everything it printed.
 */
export function runScript(
  { steps }: { steps: Step[] },
  stepName: string,
  cwd: string,
  env: Record<string, string> = {},
): Promise<{ ok: boolean; output: string }> {
  const { run } = steps.find(({ name }) => name === stepName) ?? {};
  if (run === undefined) throw new Error(`The job has no step "${stepName}" with a script`);
  const path = `${cwd}:${process.env["PATH"]}`;
  return new Promise((resolve) => {
    execFile(
      "bash",
      ["--norc", "-e", "-c", run],
      { cwd, env: { PATH: path, ...env } },
      (error, stdout, stderr) => resolve({ ok: error === null, output: stdout + stderr }),
    );
  });
}

/**
 * Puts a stand-in for a program into a directory.
 *
 * @param does the shell script that it runs, once it has noted its words.
 * @returns a function that reads its calls in their order, each as one would type it.
 */
export async function standIn(
  directory: string,
  program: string,
  does: string,
): Promise<() => Promise<string[]>> {
  const calls = join(directory, `${program}.calls`);
  await writeFile(calls, "");
  const note = `for word in "$@"; do
    case $word in *" "*) word="'$word'";; esac
    printf '%s ' "$word"
  done >> ${calls}
  echo >> ${calls}`;
  await writeFile(join(directory, program), `#!/bin/bash\n${note}\n${does}\n`, { mode: 0o755 });
  return async () => (await readFile(calls, "utf8")).split(" \n").slice(0, -1);
}
