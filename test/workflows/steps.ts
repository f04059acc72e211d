import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export interface Step {
  id?: string;
  name?: string;
  if?: string;
  env?: Record<string, string>;
  uses?: string;
  with?: Record<string, unknown>;
  run?: string;
  "working-directory"?: string;
}

const github = new URL("../../.github/", import.meta.url);

export async function readWorkflow(name: string) {
  const text = await readFile(new URL(`workflows/${name}`, github), "utf8");
  const { jobs, ...rest } = parse(text);
  return { text, jobs, ...rest };
}

/** Deleted at the end of the run (helpers/assembly.ts). */
export const temporaryDirectory = () =>
  mkdtemp(join(tmpdir(), "pet-store-orders-workflow-"));

/** Runs git in a folder, and returns what it prints. */
export function git(cwd: string, ...words: string[]): string {
  const identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
  const options = { cwd, encoding: "utf8", stdio: "pipe" } as const;
  return execFileSync("git", [...identity, ...words], options).trim();
}

export async function checkout(): Promise<string> {
  const directory = await temporaryDirectory();
  await symlink(fileURLToPath(github), join(directory, ".github"));
  return directory;
}

interface Run {
  directory?: string;
  env?: Record<string, string>;
  /** Shell scripts, by the names of programs on the path, or by their files in the folder. */
  programs?: Record<string, string>;
}

/** Runs each step. Its arguments are a folder and a script for each. */
const eachStep = `while [ $# -gt 0 ]; do
  (cd "$1" && exec bash --norc -e -c "$2") || exit
  shift 2
done`;

/**
 * Runs the scripts of a job's steps as GitHub does on Linux, up to one that fails, without steps that
 * have a condition. Their calls of the programs are returned as one would type them.
 */
export async function runJob(
  { steps }: { steps: Step[] },
  { directory, env = {}, programs = {} }: Run,
) {
  const cwd = directory ?? (await temporaryDirectory());
  const calls = join(cwd, "calls");
  await writeFile(calls, "");
  const note = `for word in "\${0#${cwd}/}" "$@"; do
    case $word in *" "*) word="'$word'";; esac
    printf '%s ' "$word"
  done >> ${calls}
  echo >> ${calls}`;
  for (const [name, does] of Object.entries(programs)) {
    const file = join(cwd, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `#!/bin/bash\n${note}\n${does}\n`, { mode: 0o755 });
  }
  const PATH = `${cwd}:${process.env["PATH"]}`;
  const scripts = steps.flatMap(
    ({ run, if: condition, "working-directory": folder = "." }) =>
      run === undefined || condition !== undefined ? [] : [folder, run],
  );
  const words = ["--norc", "-c", eachStep, "job", ...scripts];
  const shell = { cwd, env: { PATH, ...env }, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync("bash", words, shell);
  const lines = (await readFile(calls, "utf8")).split(" \n").slice(0, -1);
  return { ok: status === 0, output: stdout + stderr, directory: cwd, calls: lines };
}

/** Runs one step's script, whatever its condition. */
export function runStep(job: { steps: Step[] }, name: string, options: Run) {
  const step = job.steps.find((candidate) => candidate.name === name);
  if (!step?.run) throw new Error(`The job has no step "${name}" with a script`);
  return runJob({ steps: [{ run: step.run }] }, options);
}

/** GitHub's list of artifacts, in pages: by which run, at a time like `08:00`, from where. */
export const artifactPages = (...pages: Artifact[][]) =>
  JSON.stringify(pages.map((artifacts) => ({ artifacts: artifacts.map(artifact) })));

export type Artifact = [
  run: number | null,
  created: string,
  branch?: string,
  repository?: number,
];

const artifact = ([
  id,
  created,
  head_branch = "main",
  head_repository_id = 7,
]: Artifact) => ({
  id: Number(id) * 100,
  created_at: `2026-11-20T${created}:00Z`,
  workflow_run: id && { id, head_branch, repository_id: 7, head_repository_id },
});
