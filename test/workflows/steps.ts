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
 * Runs the script of a job's step as GitHub does on Linux.
 *
 * @param options.directory where it runs; by default a new directory.
 * @param options.programs shell scripts in place of programs, by their names.
 * @returns whether it succeeded, everything it printed, its directory, and its calls of these
 * programs in their order, each as one would type it.
 */
export async function runStep(
  { steps }: { steps: Step[] },
  stepName: string,
  options: {
    directory?: string;
    env?: Record<string, string>;
    programs?: Record<string, string>;
  } = {},
) {
  const { directory = await temporaryDirectory(), env = {}, programs = {} } = options;
  const { run } = steps.find(({ name }) => name === stepName) ?? {};
  if (run === undefined) throw new Error(`The job has no step "${stepName}" with a script`);
  const calls = join(directory, "calls");
  await writeFile(calls, "");
  const note = `for word in "\${0##*/}" "$@"; do
    case $word in *" "*) word="'$word'";; esac
    printf '%s ' "$word"
  done >> ${calls}
  echo >> ${calls}`;
  for (const [name, does] of Object.entries(programs))
    await writeFile(join(directory, name), `#!/bin/bash\n${note}\n${does}\n`, { mode: 0o755 });
  const PATH = `${directory}:${process.env["PATH"]}`;
  const shell = { cwd: directory, env: { PATH, ...env } };
  const { promise, resolve } = Promise.withResolvers<{ ok: boolean; output: string }>();
  execFile("bash", ["--norc", "-e", "-c", run], shell, (error, stdout, stderr) =>
    resolve({ ok: error === null, output: stdout + stderr }),
  );
  const result = await promise;
  const lines = (await readFile(calls, "utf8")).split(" \n").slice(0, -1);
  return { ...result, directory, calls: lines };
}
