import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { machineHas } from "../helpers/machine.ts";
import { readWorkflow, runScript, standIn, temporaryDirectory } from "./steps.ts";

const { build, commit: commitJob } = (await readWorkflow("deploy.yml")).jobs;

const hasGit = machineHas("git", "which commit is deployed");

function git(cwd: string, ...words: string[]): string {
  const identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
  return execFileSync("git", [...identity, ...words], {
    cwd,
    encoding: "utf8",
    stdio: "pipe",
  }).trim();
}

/** A clone, and commits of its origin, each with settings and own parts that differ. */
interface Clone {
  directory: string;
  /** The first commit of main. */
  old: string;
  /** The last commit of main. */
  today: string;
  /** A commit that main does not contain. */
  branch: string;
}

/** @param options of `git clone`. */
async function clone(...options: string[]): Promise<Clone> {
  const origin = await temporaryDirectory();
  git(origin, "init", "--quiet", "--initial-branch=main");
  await mkdir(join(origin, "infra"));
  const commit = async (settings: string) => {
    await writeFile(join(origin, "infra", "environments.ts"), settings);
    await writeFile(join(origin, "infra", "own.ts"), `own parts beside ${settings}`);
    git(origin, "add", ".");
    git(origin, "commit", "--quiet", "--message", settings);
    return git(origin, "rev-parse", "HEAD");
  };
  const old = await commit("old settings");
  const today = await commit("today's settings");
  git(origin, "checkout", "--quiet", "-b", "branch");
  const branch = await commit("a branch's settings");
  git(origin, "checkout", "--quiet", "main");
  const directory = await temporaryDirectory();
  git(directory, "clone", "--quiet", ...options, `file://${origin}`, ".");
  return { directory, old, today, branch };
}

/** The options of GitHub's checkout without `fetch-depth: 0`. */
const shallow = ["--depth", "1", "--no-single-branch"];
const tooShallow = {
  ok: false,
  output: "::error::This job needs all of main's history: fetch-depth: 0\n",
};

describe.runIf(hasGit)("the commit to deploy", () => {
  async function accept(commit: string, directory: string) {
    const file = join(await temporaryDirectory(), "output");
    const env = { COMMIT: commit, GITHUB_OUTPUT: file };
    const step = "Accept only a commit that main contains";
    const result = await runScript(commitJob, step, directory, env);
    return { ...result, sha: result.ok && (await readFile(file, "utf8")).trim() };
  }

  test("is one that main contains, by its full or short name", async () => {
    const { branch, directory, old } = await clone();
    const names = [old, old.slice(0, 8), branch, "origin/branch", "0".repeat(40), "--help", ""];
    const found = await Promise.all(names.map((name) => accept(name, directory)));
    const isOld = `sha=${old}`;
    expect(found.map(({ sha }) => sha)).toEqual([isOld, isOld, false, false, false, false, false]);
  });

  test("is rejected in a shallow clone, with one line that says why", async () => {
    const { directory, today } = await clone(...shallow);
    expect(await accept(today, directory)).toMatchObject(tooShallow);
  });
});

describe.runIf(hasGit)("the build of an old commit", () => {
  const takeSettings = (directory: string, today: string) =>
    runScript(build, "Take today's settings", directory, { GITHUB_SHA: today });

  /** Runs a build whose synthesis fails. */
  const failToBuild = async (directory: string) => {
    await standIn(directory, "npm", "exit 1");
    return runScript(build, "Build", directory, { CANARY: "false" });
  };

  test("takes today's settings and own parts, and says how to go on if it fails with them", async () => {
    const { directory, old, today } = await clone();
    git(directory, "checkout", "--quiet", old);
    await takeSettings(directory, today);
    const read = (file: string) => readFile(join(directory, "infra", file), "utf8");
    expect(await read("environments.ts")).toBe("today's settings");
    expect(await read("own.ts")).toBe("own parts beside today's settings");
    const { ok, output } = await failToBuild(directory);
    expect(ok).toBe(false);
    expect(output).toMatch(/^::error::This commit does not synthesise .*own-settings=true/);
  });

  test("fails in a shallow clone, with one line that says why", async () => {
    const { directory, today } = await clone(...shallow);
    expect(await takeSettings(directory, today)).toEqual(tooShallow);
  });

  test("does not blame the settings when they are its own", async () => {
    const { directory } = await clone();
    expect(await failToBuild(directory)).toEqual({ ok: false, output: "" });
  });
});

test.each([
  ["with the canary", "Outputs.BaseUrl.Value=1 OwnApi/Rest.SecurityPolicy=b", "true"],
  ["without it when a change of TLS is accepted", "a Api/Rest.SecurityPolicy=b", "false"],
  ["without it when only that is accepted", "Api/Rest.EndpointAccessMode=b", "false"],
  [
    "without it when that is accepted on a line of its own",
    "a\nApi/Domain/Name.EndpointAccessMode=b\r\n",
    "false",
  ],
])("a build is made %s", async (_, accept, canary) => {
  const directory = await temporaryDirectory();
  const calls = await standIn(directory, "npm", "");
  await runScript(build, "Build", directory, { CANARY: "true", ACCEPT: accept });
  expect(await calls()).toEqual([`run synth -- --context canary=${canary}`]);
});
