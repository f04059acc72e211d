import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import {
  fakeNpm,
  readWorkflow,
  runScript,
  type Step,
  stepNamed,
  temporaryDirectory,
  workflowNames,
} from "../helpers/workflows.ts";

/** The expressions that GitHub replaces by values. */
const expression = (text: string) => `$\{{ ${text} }}`;

const { workflow: ci } = await readWorkflow("ci.yml");
const { workflow: deploy } = await readWorkflow("deploy.yml");
const { workflow: deployEnvironment } = await readWorkflow("deploy-environment.yml");
const deployJob = deployEnvironment.jobs["deploy"] ?? {};
const commitJob = deploy.jobs["commit"] ?? {};

test("these are all workflows", () => {
  expect(readdirSync(new URL("../../.github/workflows/", import.meta.url)).sort()).toEqual([...workflowNames].sort());
});

describe.each(workflowNames)("the workflow %s", async (name) => {
  const { text, workflow } = await readWorkflow(name);
  const steps: Step[] = Object.values(workflow.jobs).flatMap(({ steps = [] }) => steps);

  test("pins every action to a commit, and names its version", () => {
    const actions = [...text.matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action]) => action);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("stores no credentials", () => {
    expect(text).not.toMatch(/secrets|aws-access-key-id|AWS_SECRET/);
    for (const { uses, with: options } of steps) {
      if (uses?.startsWith("actions/checkout@")) expect(options).toMatchObject({ "persist-credentials": false });
    }
  });

  test("runs no script with text that a caller chose", () => {
    for (const { run = "" } of steps) expect(run).not.toContain("${{");
  });

  test("leaves the stack's name to the settings", () => {
    for (const { stackName } of Object.values(environments)) {
      expect(text).not.toContain(stackName.replace(/-\w+$/, ""));
    }
  });
});

test("only jobs that deploy may ask AWS for a role; the others may read the code", () => {
  expect([ci, deploy, deployEnvironment].map(({ permissions }) => permissions)).toEqual([{ contents: "read" }, {}, {}]);
  const permissions = (workflow: typeof ci) =>
    Object.fromEntries(Object.entries(workflow.jobs).map(([name, job]) => [name, job.permissions]));
  const readsCode = { contents: "read" };
  const deploys = { contents: "read", "id-token": "write" };
  expect(permissions(ci)).toEqual({ test: undefined });
  expect(permissions(deployEnvironment)).toEqual({ deploy: deploys });
  expect(permissions(deploy)).toEqual({
    commit: readsCode,
    ci: readsCode,
    staging: deploys,
    production: deploys,
    "straight-to-production": deploys,
  });
});

describe("a deployment", () => {
  test("starts with a push to main, or by hand with at most a commit for production", () => {
    expect(deploy.on).toEqual({
      push: { branches: ["main"] },
      workflow_dispatch: {
        inputs: { "straight-to-production": { type: "string", description: expect.stringContaining("Roll back") } },
      },
    });
  });

  test("goes from the tests to staging to production", () => {
    const { ci, staging, production } = deploy.jobs;
    const commit = expression("needs.commit.outputs.sha");
    expect(ci).toMatchObject({ needs: "commit", uses: "./.github/workflows/ci.yml", with: { ref: commit } });
    const uses = "./.github/workflows/deploy-environment.yml";
    expect(staging).toMatchObject({ needs: ["commit", "ci"], uses });
    expect(staging?.with).toEqual({ environment: "staging", commit });
    expect(production).toMatchObject({ needs: ["commit", "staging"], uses });
    expect(production?.with).toEqual({ environment: "production", commit });
    // A job without a condition is skipped when one it needs is.
    expect([ci, staging, production].map((job) => job?.if)).toEqual([
      expression("!inputs.straight-to-production"),
      undefined,
      undefined,
    ]);
  });

  test("straight to production skips tests, staging and canary, but not the check of its commit", () => {
    expect(deploy.jobs["straight-to-production"]).toEqual({
      needs: "commit",
      if: expression("inputs.straight-to-production"),
      uses: "./.github/workflows/deploy-environment.yml",
      permissions: { contents: "read", "id-token": "write" },
      with: { environment: "production", commit: expression("needs.commit.outputs.sha"), canary: false },
    });
  });

  test("waits for others in the same environment only, and is never cut off", () => {
    for (const workflow of [ci, deploy, deployEnvironment]) expect(workflow.concurrency).toBeUndefined();
    for (const job of Object.values(deploy.jobs)) expect(job.concurrency).toBeUndefined();
    expect(deployJob.concurrency).toEqual({
      group: `deploy-${expression("inputs.environment")}`,
      "cancel-in-progress": false,
    });
  });

  test("runs in the GitHub environment, which holds the role and the reviewers", () => {
    expect(deployJob.environment).toBe(expression("inputs.environment"));
    expect(deployJob.steps?.map(({ with: options }) => options?.["role-to-assume"]).filter(Boolean)).toEqual([
      expression("vars.AWS_ROLE_ARN"),
    ]);
  });

  test("is smoke-tested at its end", () => {
    expect(deployJob.steps?.map(({ name, uses, run }) => name ?? uses?.replace(/@.*/, "") ?? run)).toEqual([
      "actions/checkout",
      "npm ci",
      "aws-actions/configure-aws-credentials",
      "Deploy",
      "Smoke test",
    ]);
    expect(deployJob.steps?.[0]?.with).toMatchObject({ ref: expression("inputs.commit") });
  });
});

const hasGit = spawnSync("git", ["--version"]).status === 0;
if (!hasGit) console.warn("Which commit is deployed is not tested: no git on the PATH");

describe("the commit to deploy", () => {
  const step = stepNamed(commitJob, "Accept only a commit that main contains");

  /** A clone whose origin has two commits on main and one on a branch. */
  async function clone(): Promise<{ directory: string; main: string[]; branch: string }> {
    const [origin, directory] = [await temporaryDirectory(), await temporaryDirectory()];
    const git = (cwd: string, ...args: string[]) =>
      execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], {
        cwd,
        encoding: "utf8",
        stdio: "pipe",
      }).trim();
    const commit = (message: string) => {
      git(origin, "commit", "--quiet", "--allow-empty", "--message", message);
      return git(origin, "rev-parse", "HEAD");
    };
    git(origin, "init", "--quiet", "--initial-branch=main");
    const main = [commit("one"), commit("two")];
    git(origin, "checkout", "--quiet", "-b", "branch");
    const branch = commit("three");
    git(origin, "checkout", "--quiet", "main");
    git(directory, "clone", "--quiet", origin, ".");
    return { directory, main, branch };
  }

  async function accepted(commit: string, directory: string): Promise<string | undefined> {
    const output = join(await temporaryDirectory(), "output");
    const { ok } = await runScript(step, directory, { COMMIT: commit, GITHUB_OUTPUT: output });
    return ok ? (await readFile(output, "utf8")).trim() : undefined;
  }

  test("is the one asked for or pushed, looked up in all of main's history", () => {
    expect(step.env).toEqual({ COMMIT: expression("inputs.straight-to-production || github.sha") });
    expect(commitJob.steps?.[0]).toMatchObject({
      uses: expect.stringMatching(/^actions\/checkout@/),
      with: { ref: "main", "fetch-depth": 0 },
    });
    expect(commitJob).toMatchObject({
      outputs: { sha: expression("steps.commit.outputs.sha") },
      steps: [{}, { id: "commit" }],
    });
  });

  test.skipIf(!hasGit)("is accepted when main contains it, by its full or short name", async () => {
    const { directory, main } = await clone();
    for (const commit of main) {
      expect(await accepted(commit, directory)).toBe(`sha=${commit}`);
      expect(await accepted(commit.slice(0, 8), directory)).toBe(`sha=${commit}`);
    }
  });

  test.skipIf(!hasGit)("is rejected when only a branch contains it, or nothing does", async () => {
    const { directory, branch } = await clone();
    for (const commit of [branch, branch.slice(0, 8), "origin/branch", "0".repeat(40), "--help", "", "main; true"]) {
      expect([commit, await accepted(commit, directory)]).toEqual([commit, undefined]);
    }
  });
});

describe.each(Object.values(environments))("deploying $name", ({ name, stackName }) => {
  /** The values that GitHub puts into the job's environment. */
  const jobEnvironment = (canary: string) =>
    Object.fromEntries(
      Object.entries(deployJob.env ?? {}).map(([variable, value]) => [
        variable,
        { [expression("inputs.environment")]: name, [expression("inputs.canary")]: canary }[value] ?? "not an input",
      ]),
    );

  async function run(stepName: string, canary = "true") {
    const directory = await temporaryDirectory();
    const calls = await fakeNpm(directory, "pets_test_made_up");
    await writeFile(
      join(directory, "outputs.json"),
      JSON.stringify({ [stackName]: { BaseUrl: "https://example/v1" } }),
    );
    const { ok, output } = await runScript(stepNamed(deployJob, stepName), directory, {
      ...jobEnvironment(canary),
      PATH: `${directory}:${process.env["PATH"]}`,
      CALLS: join(directory, "calls"),
      RUNNER_TEMP: directory,
      GITHUB_RUN_ID: "4711",
    });
    expect([ok, output]).toEqual([true, expect.anything()]);
    return { calls: await calls(), output, directory };
  }

  test.each(["true", "false"])("deploys its stack alone, with the canary setting %s", async (canary) => {
    const { calls, directory } = await run("Deploy", canary);
    expect(calls.map(({ words }) => words)).toEqual([
      [
        ...["run", "deploy", "--", `*-${name}`, "--exclusively", "--require-approval", "never"],
        ...["--context", `canary=${canary}`, "--outputs-file", `${directory}/outputs.json`],
      ],
    ]);
    const matching = Object.values(environments).filter((other) => other.stackName.endsWith(`-${name}`));
    expect(matching.map((environment) => environment.stackName)).toEqual([stackName]);
    expect(deployEnvironment.on["workflow_call"]?.inputs?.["canary"]).toMatchObject({ type: "boolean", default: true });
  });

  test("smoke-tests what was deployed, with a masked key that expires within a quarter of an hour", async () => {
    const { calls, output } = await run("Smoke test");
    const [issue, smoke] = calls;
    expect(issue?.words.slice(0, -1)).toEqual([
      ...["run", "--silent", "admin", "--", "--env", name, "keys", "issue"],
      ...["--name", "smoke test 4711", "--expires"],
    ]);
    const secondsLeft = (Date.parse(issue?.words.at(-1) ?? "") - Date.now()) / 1000;
    expect(secondsLeft).toBeGreaterThan(0);
    expect(secondsLeft).toBeLessThanOrEqual(15 * 60);
    expect(smoke).toEqual({
      words: ["run", "smoke", "--", "--base-url", "https://example/v1"],
      apiKey: "pets_test_made_up",
    });
    expect(output).toBe("::add-mask::pets_test_made_up\n");
  });
});
