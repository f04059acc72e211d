import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { machineHas } from "../helpers/machine.ts";
import { expression, fakeNpm, readWorkflow, runScript, stepNamed, temporaryDirectory } from "../helpers/workflows.ts";

const { workflow: deploy } = await readWorkflow("deploy.yml");
const { workflow: deployEnvironment } = await readWorkflow("deploy-environment.yml");
const deployJob = deployEnvironment.jobs["deploy"] ?? {};
const commitJob = deploy.jobs["commit"] ?? {};

const hasGit = machineHas("git", "which commit is deployed");

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

  test.runIf(hasGit)("is accepted when main contains it, by its full or short name", async () => {
    const { directory, main } = await clone();
    for (const commit of main) {
      expect(await accepted(commit, directory)).toBe(`sha=${commit}`);
      expect(await accepted(commit.slice(0, 8), directory)).toBe(`sha=${commit}`);
    }
  });

  test.runIf(hasGit)("is rejected when only a branch contains it, or nothing does", async () => {
    const { directory, branch } = await clone();
    for (const commit of [branch, branch.slice(0, 8), "origin/branch", "0".repeat(40), "--help", "", "main; true"]) {
      expect([commit, await accepted(commit, directory)]).toEqual([commit, undefined]);
    }
  });
});

describe.each(Object.values(environments))("deploying $name", ({ name, stackName }) => {
  async function run(stepName: string, fails?: string) {
    const directory = await temporaryDirectory();
    const calls = await fakeNpm(directory, "pets_test_made_up");
    await writeFile(
      join(directory, "outputs.json"),
      JSON.stringify({ [stackName]: { BaseUrl: "https://example/v1" } }),
    );
    const { ok, output } = await runScript(stepNamed(deployJob, stepName), directory, {
      ENVIRONMENT: name,
      PATH: `${directory}:${process.env["PATH"]}`,
      CALLS: join(directory, "calls"),
      RUNNER_TEMP: directory,
      GITHUB_RUN_ID: "4711",
      ...(fails !== undefined && { FAILS: fails }),
    });
    return { ok, calls: await calls(), output, directory };
  }

  test("deploys its stack alone, as it was built", async () => {
    expect(deployJob.env).toEqual({ ENVIRONMENT: expression("inputs.environment") });
    const { ok, calls, directory } = await run("Deploy");
    expect(ok).toBe(true);
    expect(calls.map(({ words }) => words)).toEqual([
      [
        ...["run", "deploy", "--", `*-${name}`, "--exclusively", "--app", "cdk.out", "--require-approval", "never"],
        ...["--outputs-file", `${directory}/outputs.json`],
      ],
    ]);
    const matching = Object.values(environments).filter((other) => other.stackName.endsWith(`-${name}`));
    expect(matching.map((environment) => environment.stackName)).toEqual([stackName]);
  });

  test("smoke-tests what was deployed, with a masked key that expires within a quarter of an hour", async () => {
    const { ok, calls, output } = await run("Smoke test");
    expect(ok).toBe(true);
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

  // A key is masked before a command that could print it.
  test.each([
    ["Deploy", "run deploy", ""],
    ["Smoke test", "keys issue", ""],
    ["Smoke test", "run smoke", "::add-mask::pets_test_made_up\n"],
  ])("fails in the step %s when npm fails at %s, and goes no further", async (stepName, command, printed) => {
    const { ok, calls, output } = await run(stepName, command);
    expect([ok, output]).toEqual([false, printed]);
    expect(calls.at(-1)?.words.join(" ")).toContain(command);
  });
});

test.each(["true", "false"])("a build has the canary setting %s", async (canary) => {
  const directory = await temporaryDirectory();
  const calls = await fakeNpm(directory);
  const env = { CANARY: canary, PATH: `${directory}:${process.env["PATH"]}`, CALLS: join(directory, "calls") };
  expect(await runScript(stepNamed(deploy.jobs["build"] ?? {}, "Build"), directory, env)).toMatchObject({ ok: true });
  expect((await calls()).map(({ words }) => words)).toEqual([["run", "synth", "--", "--context", `canary=${canary}`]]);
});

test("a deployment of an earlier attempt's build fails, and says what to do", async () => {
  const step = stepNamed(deployJob, "Reject the assembly of an earlier attempt");
  const { ok, output } = await runScript(step, await temporaryDirectory(), {});
  expect(ok).toBe(false);
  expect(output).toContain("::error::Re-run all jobs");
});
