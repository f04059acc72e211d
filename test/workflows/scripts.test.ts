import { execFileSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { machineHas } from "../helpers/machine.ts";
import { readWorkflow, runScript, standIn, temporaryDirectory } from "../helpers/workflows.ts";

const { build, changes, commit: commitJob } = (await readWorkflow("deploy.yml")).jobs;
const deployJob = (await readWorkflow("deploy-environment.yml")).jobs.deploy;

const hasGit = machineHas("git", "which commit is deployed");

function git(cwd: string, ...words: string[]): string {
  const identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
  return execFileSync("git", [...identity, ...words], {
    cwd,
    encoding: "utf8",
    stdio: "pipe",
  }).trim();
}

/**
 * A clone whose origin has two commits on main, each with settings of its own, and one on a branch.
 */
async function clone(): Promise<{ directory: string; main: string[]; branch: string }> {
  const [origin, directory] = [await temporaryDirectory(), await temporaryDirectory()];
  git(origin, "init", "--quiet", "--initial-branch=main");
  await mkdir(join(origin, "infra"));
  const commit = async (text: string) => {
    await writeFile(join(origin, "infra", "environments.ts"), text);
    await writeFile(join(origin, "infra", "own.ts"), `own parts beside ${text}`);
    git(origin, "add", ".");
    git(origin, "commit", "--quiet", "--message", text);
    return git(origin, "rev-parse", "HEAD");
  };
  const main = [await commit("old settings"), await commit("today's settings")];
  git(origin, "checkout", "--quiet", "-b", "branch");
  const branch = await commit("a branch's settings");
  git(origin, "checkout", "--quiet", "main");
  git(directory, "clone", "--quiet", origin, ".");
  return { directory, main, branch };
}

describe.runIf(hasGit)("the commit to deploy", () => {
  async function accepted(commit: string, directory: string): Promise<string | undefined> {
    const output = join(await temporaryDirectory(), "output");
    const env = { COMMIT: commit, GITHUB_OUTPUT: output };
    const { ok } = await runScript(
      commitJob,
      "Accept only a commit that main contains",
      directory,
      env,
    );
    return ok ? (await readFile(output, "utf8")).trim() : undefined;
  }

  test("is one that main contains, by its full or short name, and not one of a branch", async () => {
    const { directory, main, branch } = await clone();
    const [commit = ""] = main;
    expect(await accepted(commit, directory)).toBe(`sha=${commit}`);
    expect(await accepted(commit.slice(0, 8), directory)).toBe(`sha=${commit}`);
    for (const commit of [branch, "origin/branch", "0".repeat(40), "--help", "", "main; true"]) {
      expect([commit, await accepted(commit, directory)]).toEqual([commit, undefined]);
    }
  });

  test("is built with today's settings and own parts, and says how to go on where it can't be", async () => {
    const { directory, main } = await clone();
    git(directory, "checkout", "--quiet", main[0] ?? "");
    await runScript(build, "Take today's settings", directory, { GITHUB_SHA: main[1] ?? "" });
    const read = (file: string) => readFile(join(directory, "infra", file), "utf8");
    expect(await read("environments.ts")).toBe("today's settings");
    expect(await read("own.ts")).toBe("own parts beside today's settings");
    const synths = await standIn(directory, "npm", "exit 1");
    const { ok, output } = await runScript(build, "Build", directory, { CANARY: "false" });
    expect(ok).toBe(false);
    expect(output).toContain("::error::This commit does not synthesise with today's settings.");
    expect(output).toContain("own-settings=true");
    expect(await synths()).toEqual(["run synth -- --context canary=false"]);
    // Where the settings are its own, they are not what is wrong.
    git(directory, "checkout", "--quiet", "--force", main[1] ?? "");
    expect(await runScript(build, "Build", directory, { CANARY: "false" })).toEqual({
      ok: false,
      output: "",
    });
  });
});

describe("a run", () => {
  const artifact = (id: number, created: string, head_branch = "main", head_repository_id = 7) => ({
    id: id * 100,
    created_at: `2026-11-20T${created}:00Z`,
    workflow_run: { id, head_branch, repository_id: 7, head_repository_id },
  });

  /** Runs a step where GitHub lists these pages of artifacts. */
  async function withArtifacts(job: typeof deployJob, step: string, ...pages: unknown[][]) {
    const directory = await temporaryDirectory();
    await symlink(
      fileURLToPath(new URL("../../.github", import.meta.url)),
      join(directory, ".github"),
    );
    const listed = JSON.stringify(pages.map((artifacts) => ({ artifacts })));
    // What run 1 deployed has expired.
    const does = `case "$*" in *name=*) echo '${listed}';; */100/zip) exit 1;; *) echo "zip of $2";; esac`;
    const calls = await standIn(directory, "gh", does);
    await standIn(directory, "unzip", 'mkdir -p "$4"; cp "$2" "$4/template"');
    const github = {
      GITHUB_REPOSITORY: "acme/orders",
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_RUN_ID: "11",
    };
    const result = await runScript(job, step, directory, { ...github, ENVIRONMENT: "staging" });
    return { ...result, directory, calls: await calls() };
  }

  const fetch = "Fetch the template that production got last";
  const say = "Say what production would change";
  const rejection = "Reject a run after a later one has deployed";

  test("is rejected once a later one has deployed, such as a rollback, wherever GitHub lists that", async () => {
    const deployed = [artifact(11, "08:00"), artifact(10, "07:00")];
    for (const pages of [
      [deployed, [artifact(12, "09:00")]],
      [[artifact(12, "09:00"), ...deployed]],
    ]) {
      const { ok, output } = await withArtifacts(deployJob, rejection, ...pages);
      expect([ok, output]).toEqual([
        false,
        expect.stringMatching(/^::error::Run 12 is newer and has deployed to staging/),
      ]);
    }
  });

  test.each([
    ["nothing was ever deployed", []],
    ["an earlier one was the last", [artifact(9, "07:00")]],
    ["it was the last itself", [artifact(10, "07:00"), artifact(11, "08:00")]],
    ["the later one was a branch's", [artifact(12, "09:00", "release")]],
    ["the later one was a fork's", [artifact(12, "09:00", "main", 8)]],
  ])("deploys when %s", async (_reason, artifacts) => {
    const { ok, output, calls } = await withArtifacts(deployJob, rejection, artifacts);
    expect([ok, output]).toEqual([true, ""]);
    expect(calls).toEqual([
      "api --paginate --slurp repos/acme/orders/actions/artifacts?name=deployed-staging&per_page=100",
    ]);
  });

  test("tells its reviewers what was deployed last, what would stop, and every change", async () => {
    const { directory, calls } = await withArtifacts(changes, fetch, [
      artifact(10, "07:00"),
      artifact(9, "06:00"),
    ]);
    expect(calls[0]).toContain("artifacts?name=deployed-production&");
    expect(await readFile(join(directory, "deployed/template"), "utf8")).toContain(
      "artifacts/1000/zip",
    );
    await writeFile(join(directory, "deployed/deployed.template.json"), "{}");
    const does = '[ $3 = diff ] && echo "[~] Stage" >&2 || { echo "STOP tls"; exit 1; }';
    const npm = await standIn(directory, "npm", does);
    const summary = { GITHUB_STEP_SUMMARY: join(directory, "summary"), ACCEPT: "base-url tls" };
    expect(await runScript(changes, say, directory, summary)).toEqual({ ok: true, output: "" });
    const text = await readFile(join(directory, "summary"), "utf8");
    expect(text).toContain(
      "Compared with what [run 10](https://github.com/acme/orders/actions/runs/10) deployed at 2026-",
    );
    expect(text).toMatch(
      /^## What production would change\n[^\n]+\n```\nSTOP tls\n\[~] Stage\n```\n$/,
    );
    const against = "production --app cdk.out --template deployed/deployed.template.json";
    expect(await npm()).toEqual([
      `run --silent compare -- ${against} --accept 'base-url tls'`,
      `run --silent diff -- ${against}`,
    ]);
    await standIn(directory, "npm", "exit 2");
    expect((await runScript(changes, say, directory, summary)).ok).toBe(false);
  });

  test.each([
    ["nothing was ever deployed", []],
    ["what was deployed has expired", [artifact(1, "07:00")]],
  ])("tells its reviewers that nothing is known when %s", async (_reason, artifacts) => {
    const { ok, directory } = await withArtifacts(changes, fetch, artifacts);
    const summary = { GITHUB_STEP_SUMMARY: join(directory, "summary") };
    expect([ok, (await runScript(changes, say, directory, summary)).ok]).toEqual([true, true]);
    expect(await readFile(join(directory, "summary"), "utf8")).toMatch(/\nUnknown: [^\n]+\n$/);
  });
});

describe("deploying", () => {
  async function run(stepName: string, fails = "nothing", accept = "removed:Own tls") {
    const directory = await temporaryDirectory();
    const does = `case "$*" in *"${fails}"*) exit 1;; *issue*) echo pets_made_up;; *smoke*) echo "with $API_KEY in $PWD";; esac`;
    const calls = await standIn(directory, "npm", does);
    await mkdir(join(directory, "cdk.out"));
    await mkdir(join(directory, "commit"));
    await writeFile(join(directory, "cdk.out", "Orders.template.json"), "the template");
    await writeFile(
      join(directory, "outputs.json"),
      '{ "Orders": { "BaseUrl": "https://example/v1" } }',
    );
    const { ok, output } = await runScript(deployJob, stepName, directory, {
      ENVIRONMENT: "staging",
      ACCEPT: accept,
      RUNNER_TEMP: directory,
      GITHUB_RUN_ID: "4711",
    });
    return { ok, output, directory, calls: await calls() };
  }

  test("compares, deploys what was built, and keeps the template for the next comparison", async () => {
    const { ok, calls, directory } = await run("Deploy");
    expect(ok).toBe(true);
    const options = "--accept 'removed:Own tls' --app cdk.out --require-approval never";
    expect(calls).toEqual([
      `run deploy -- staging ${options} --outputs-file ${directory}/outputs.json`,
    ]);
    expect(await readFile(join(directory, "deployed.template.json"), "utf8")).toBe("the template");
  });

  test("ends with a smoke test, by a masked key that is handed to no other command", async () => {
    const { ok, output, directory } = await run("Smoke test");
    const smoke = `with pets_made_up in ${directory}/commit\n`;
    expect([ok, output]).toEqual([true, `::add-mask::pets_made_up\n${smoke}`]);
  });

  test.each<[string, number]>([
    ["", 120],
    ["removed:Own orders-table-in-use", 120],
    ["removed:Own\ntls", 1200],
    ["base-url", 1200],
    ["first-deployment", 1200],
  ])("gives a stage for which %j is accepted %i seconds to be ready", async (accept, seconds) => {
    const { calls } = await run("Smoke test", "nothing", accept);
    expect(calls[1]).toBe(`run smoke -- --base-url https://example/v1 --wait ${seconds}`);
  });

  test.each<[string, number]>([
    ["", 17],
    ["tls", 35],
  ])("issues the smoke test's key, with %j accepted, for %i minutes", async (accept, minutes) => {
    const { calls } = await run("Smoke test", "nothing", accept);
    const [issue = ""] = calls;
    expect(issue).toMatch(
      /^run --silent admin -- --env staging keys issue --name 'smoke test 4711' --expires \S+$/,
    );
    const secondsLeft = (Date.parse(issue.replace(/.* /, "")) - Date.now()) / 1000;
    expect(Math.ceil(secondsLeft / 60)).toBe(minutes);
  });

  test.each([
    ["Deploy", "run deploy", ""],
    ["Smoke test", "keys issue", ""],
    ["Smoke test", "run smoke", "::add-mask::pets_made_up\n"],
  ])(
    "fails in the step %s when npm fails at %s, and goes no further",
    async (stepName, command, printed) => {
      const { ok, calls, output } = await run(stepName, command);
      expect([ok, output]).toEqual([false, printed]);
      expect(calls.at(-1)).toContain(command);
    },
  );
});
