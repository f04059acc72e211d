import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { machineHas } from "../helpers/machine.ts";
import { git, readWorkflow, runStep, temporaryDirectory } from "./steps.ts";

const { build, commit: commitJob } = (await readWorkflow("deploy.yml")).jobs;

describe.runIf(machineHas("git", "which commit is deployed"))("of a repository", () => {
  let origin: string;
  /** Commits with different settings: the first of main, the run's own, and one of a branch. */
  let old: string, today: string, branch: string;
  beforeAll(async () => {
    origin = await temporaryDirectory();
    git(origin, "init", "--quiet", "--initial-branch=main");
    await mkdir(join(origin, "infra"));
    const commit = async (settings: string) => {
      await writeFile(join(origin, "infra/environments.ts"), settings);
      await writeFile(join(origin, "infra/own.ts"), `own parts beside ${settings}`);
      git(origin, "add", ".");
      git(origin, "commit", "--quiet", "--message", settings);
      return git(origin, "rev-parse", "HEAD");
    };
    old = await commit("old settings");
    today = await commit("today's settings");
    await commit("tomorrow's settings");
    git(origin, "checkout", "--quiet", "-b", "branch");
    branch = await commit("a branch's settings");
    git(origin, "checkout", "--quiet", "main");
  });

  async function clone(...options: string[]) {
    const directory = await temporaryDirectory();
    git(directory, "clone", "--quiet", ...options, `file://${origin}`, ".");
    return directory;
  }

  async function accept(directory: string, commit: string) {
    const said = join(await temporaryDirectory(), "said");
    const env = { COMMIT: commit, GITHUB_OUTPUT: said, GITHUB_STEP_SUMMARY: said };
    const step = "Accept only a commit that main contains";
    const result = await runStep(commitJob, step, { directory, env });
    return result.ok ? await readFile(said, "utf8") : result;
  }

  const takeSettings = (directory: string) =>
    runStep(build, "Take today's settings", { directory, env: { GITHUB_SHA: today } });

  const failToBuild = (directory: string) =>
    runStep(build, "Build", {
      directory,
      env: { CANARY: "true" },
      programs: { "infra/petstore": '[ "$3" = canary=false ]' },
    });

  test("only a commit that main contains is deployed, by its full or short name, and the run says which", async () => {
    const directory = await clone();
    for (const name of [old, old.slice(0, 8)])
      expect(await accept(directory, name)).toBe(`sha=${old}\nDeploys ${old}\n`);
    for (const name of [branch, "origin/branch", "0".repeat(40), "--help", ""])
      expect(await accept(directory, name)).toMatchObject({ ok: false });
  });

  test("a shallow clone is rejected, with one line that says why", async () => {
    // GitHub's checkout without `fetch-depth: 0`.
    const directory = await clone("--depth", "1", "--no-single-branch");
    const output = "::error::This job needs all of main's history: fetch-depth: 0\n";
    expect(await accept(directory, today)).toMatchObject({ ok: false, output });
    expect(await takeSettings(directory)).toMatchObject({ ok: false, output });
  });

  test("an old commit is built with today's settings, or says how to go on", async () => {
    const directory = await clone();
    git(directory, "checkout", "--quiet", old);
    expect(await failToBuild(directory)).toMatchObject({ ok: false, output: "" });
    await takeSettings(directory);
    const read = (file: string) => readFile(join(directory, "infra", file), "utf8");
    expect(await read("environments.ts")).toBe("today's settings");
    expect(await read("own.ts")).toBe("own parts beside today's settings");
    expect(await failToBuild(directory)).toMatchObject({
      ok: false,
      output:
        "::error::This commit does not synthesise with today's settings. " +
        "Roll back to a later commit, or start the run with own-settings=true\n",
    });
  });
});

test("a build has every stack twice: with the canary, if wanted, and without", async () => {
  const env = { CANARY: "true" };
  const { calls } = await runStep(build, "Build", {
    env,
    programs: { "infra/petstore": "" },
  });
  expect(calls).toEqual([
    "infra/petstore synth --context canary=true",
    "infra/petstore synth --context canary=false --output cdk.out/without-canary",
  ]);
});
