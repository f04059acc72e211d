import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { parse } from "yaml";

/** The parts of a GitHub workflow that tests read. */
export interface Workflow {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

export interface Job {
  needs?: string | string[];
  if?: string;
  environment?: string;
  concurrency?: unknown;
  permissions?: Record<string, string>;
  "timeout-minutes"?: number;
  steps?: Step[];
}

export interface Step {
  name?: string;
  if?: string;
  uses?: string;
  with?: Record<string, unknown>;
  run?: string;
}

export const workflowNames = ["ci.yml", "deploy.yml", "deploy-environment.yml", "rehearse.yml"] as const;

/** An expression in a workflow, which GitHub replaces by its value. */
export const expression = (text: string): string => `$\{{ ${text} }}`;

/** @returns the file's text, and the workflow parsed from it. */
export async function readWorkflow(
  name: (typeof workflowNames)[number],
): Promise<{ text: string; workflow: Workflow }> {
  const text = await readFile(new URL(`../../.github/workflows/${name}`, import.meta.url), "utf8");
  return { text, workflow: parse(text) };
}

/** A step of a job by its name. */
export function stepNamed({ steps = [] }: Job = {}, name: string): Step {
  const step = steps.find((step) => step.name === name);
  if (step === undefined) throw new Error(`The job has no step "${name}"`);
  return step;
}

/** A directory that is deleted when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-workflow-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

/**
 * Runs a step's script as GitHub does on Linux; programs in its directory come first.
 *
 * @returns whether it succeeded, and everything it printed.
 */
export function runScript(
  { run = "" }: Step,
  cwd: string,
  env: Record<string, string>,
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(
      "bash",
      ["--norc", "-e", "-c", run],
      { cwd, env: { PATH: `${cwd}:${process.env["PATH"]}`, ...env } },
      (error, stdout, stderr) => resolve({ ok: error === null, output: stdout + stderr }),
    );
  });
}

/**
 * Puts a stand-in for a program into a directory.
 *
 * @param does what it does, as a shell script, once it has noted its words.
 * @returns reads its calls in their order, each as one would type it.
 */
export async function standIn(directory: string, program: string, does: string): Promise<() => Promise<string[]>> {
  const calls = join(directory, `${program}.calls`);
  await writeFile(calls, "");
  const note = `printf '%s\\037' "$@" >> ${calls}; echo >> ${calls}`;
  await writeFile(join(directory, program), `#!/bin/bash\n${note}\n${does}\n`, { mode: 0o755 });
  const typed = (word: string) => (/^[^\s]+$/.test(word) ? word : `'${word}'`);
  return async () => {
    const lines = (await readFile(calls, "utf8")).split("\n").slice(0, -1);
    return lines.map((line) => line.split("\x1f").slice(0, -1).map(typed).join(" "));
  };
}
