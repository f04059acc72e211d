import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { parse } from "yaml";

/** The parts of a GitHub workflow that tests read. */
export interface Workflow {
  on: Record<string, { branches?: string[]; inputs?: Record<string, { type: string; default?: unknown }> } | null>;
  permissions: Record<string, string>;
  concurrency?: unknown;
  jobs: Record<string, Job>;
}

export interface Job {
  needs?: string | string[];
  if?: string;
  uses?: string;
  with?: Record<string, unknown>;
  "runs-on"?: string;
  strategy?: { "fail-fast": boolean; matrix: Record<string, string[]> };
  environment?: string;
  concurrency?: { group: string; "cancel-in-progress": boolean };
  permissions?: Record<string, string>;
  "timeout-minutes"?: number;
  outputs?: Record<string, string>;
  env?: Record<string, string>;
  steps?: Step[];
}

export interface Step {
  name?: string;
  id?: string;
  if?: string;
  uses?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
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
export function stepNamed({ steps = [] }: Job, name: string): Step {
  const step = steps.find((step) => step.name === name);
  if (step === undefined) throw new Error(`The job has no step "${name}"`);
  return step;
}

/** A step's name in GitHub, without the version of its action. */
export const stepTitle = ({ name, uses, run }: Step): string | undefined => name ?? uses?.replace(/@.*/, "") ?? run;

/** A directory that is deleted when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-workflow-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

/**
 * Runs a step's script as GitHub does on Linux.
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
      { cwd, env: { PATH: process.env["PATH"], ...env } },
      (error, stdout, stderr) => resolve({ ok: error === null, output: stdout + stderr }),
    );
  });
}

/**
 * Puts a stand-in for npm into a directory; it notes its arguments and API_KEY, and prints a key when asked for one. It
 * fails at commands that contain FAILS.
 */
export async function fakeNpm(directory: string, apiKey = ""): Promise<() => Promise<NpmCall[]>> {
  const script = `#!/bin/sh
for argument; do printf '%s\\037' "$argument"; done >> "$CALLS"
printf '\\036%s\\n' "$API_KEY" >> "$CALLS"
case "$*" in *"\${FAILS-none}"*) exit 1;; esac
case "$*" in *"keys issue"*) echo ${apiKey};; esac
`;
  await writeFile(join(directory, "npm"), script, { mode: 0o755 });
  return async () => {
    const lines = (await readFile(join(directory, "calls"), "utf8")).trim().split("\n");
    return lines.map((line) => {
      const [words = "", key = ""] = line.split("\x1e");
      return { words: words.split("\x1f").slice(0, -1), apiKey: key };
    });
  };
}

export interface NpmCall {
  words: string[];
  apiKey: string;
}
