import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expression, fakeNpm, readWorkflow, runScript, stepNamed, temporaryDirectory } from "../helpers/workflows.ts";

const { workflow: deploy } = await readWorkflow("deploy.yml");
const job = deploy.jobs["changes"] ?? {};

describe("what production got last", () => {
  const step = stepNamed(job, "Fetch the template that production got last");

  /** An artifact of one of our own runs on main. */
  const artifact = { id: 1, expired: false, created_at: "2026-11-20T08:00:00Z", workflow_run: fromRun(11) };

  function fromRun(id: number, run: { head_branch?: string; head_repository_id?: number } = {}) {
    return { id, head_branch: "main", repository_id: 7, head_repository_id: 7, ...run };
  }

  /** Runs the step where GitHub has these artifacts; a stand-in for gh notes what is asked for. */
  async function fetchLast(artifacts: unknown[]): Promise<{ asked: string[]; from: string | undefined }> {
    const directory = await temporaryDirectory();
    const script = `#!/bin/sh
echo "$@" >> "$CALLS"
case "$1" in api) echo "$ARTIFACTS";; run) mkdir deployed;; esac
`;
    await writeFile(join(directory, "gh"), script, { mode: 0o755 });
    const { ok, output } = await runScript(step, directory, {
      PATH: `${directory}:${process.env["PATH"]}`,
      CALLS: join(directory, "calls"),
      ARTIFACTS: JSON.stringify({ artifacts }),
      GITHUB_REPOSITORY: "acme/orders",
      GITHUB_SERVER_URL: "https://github.com",
    });
    expect([ok, output]).toEqual([true, ""]);
    return {
      asked: (await readFile(join(directory, "calls"), "utf8")).trim().split("\n"),
      from: await readFile(join(directory, "deployed", "from"), "utf8").catch(() => undefined),
    };
  }

  const list = "api repos/acme/orders/actions/artifacts?name=deployed-production&per_page=100";

  test("is fetched from the run that deployed it, with no more than GitHub's own token", async () => {
    expect(step.env).toEqual({ GH_TOKEN: expression("github.token") });
    expect(await fetchLast([artifact])).toEqual({
      asked: [list, "run download 11 --name deployed-production --dir deployed"],
      from: "Compared with what [run 11](https://github.com/acme/orders/actions/runs/11) deployed at 2026-11-20T08:00:00Z.\n",
    });
  });

  test("is the newest, wherever GitHub lists it", async () => {
    const newest = { ...artifact, created_at: "2026-11-21T07:00:00Z", workflow_run: fromRun(12) };
    for (const artifacts of [
      [artifact, newest],
      [newest, artifact],
    ]) {
      expect((await fetchLast(artifacts)).from).toContain("[run 12]");
    }
  });

  test.each([
    ["has expired", { ...artifact, expired: true }],
    ["comes from a branch", { ...artifact, workflow_run: fromRun(11, { head_branch: "release" }) }],
    ["comes from the main branch of a fork", { ...artifact, workflow_run: fromRun(11, { head_repository_id: 8 }) }],
  ])("is not what %s", async (_reason, other) => {
    expect(await fetchLast([other])).toEqual({ asked: [list], from: undefined });
  });
});

describe("the summary for the reviewers", () => {
  const step = stepNamed(job, "Say what production would change");

  /** Runs the step where `cdk diff` prints this, which it does on standard error. */
  async function summary(directory: string, printed = ""): Promise<{ words: string[][]; text: string }> {
    const calls = await fakeNpm(directory);
    await appendFile(join(directory, "npm"), `echo '${printed}' >&2\n`);
    const { ok, output } = await runScript(step, directory, {
      PATH: `${directory}:${process.env["PATH"]}`,
      CALLS: join(directory, "calls"),
      GITHUB_STEP_SUMMARY: join(directory, "summary"),
    });
    expect([ok, output]).toEqual([true, ""]);
    return {
      words: (await calls().catch(() => [])).map(({ words }) => words),
      text: await readFile(join(directory, "summary"), "utf8"),
    };
  }

  test("compares the build with the template that production got last", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "deployed"));
    await writeFile(join(directory, "deployed", "Orders-production.template.json"), "{}");
    await writeFile(join(directory, "deployed", "from"), "Compared with that.\n");
    const { words, text } = await summary(directory, "[~] AWS::Lambda::Function");
    expect(words).toEqual([
      [
        ...["run", "--silent", "diff", "--", "*-production", "--exclusively", "--app", "cdk.out"],
        ...["--template", "deployed/Orders-production.template.json"],
      ],
    ]);
    expect(text).toMatch(
      /^## What production would change\nCompared with that\.\n```\n\[~] AWS::Lambda::Function\n```\n$/,
    );
  });

  test("fails when the comparison does", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "deployed"));
    await writeFile(join(directory, "deployed", "from"), "");
    await fakeNpm(directory);
    const { ok } = await runScript(step, directory, {
      PATH: `${directory}:${process.env["PATH"]}`,
      CALLS: join(directory, "calls"),
      FAILS: "run --silent diff",
      GITHUB_STEP_SUMMARY: join(directory, "summary"),
    });
    expect(ok).toBe(false);
  });

  test("says so when nothing is known of it", async () => {
    const { words, text } = await summary(await temporaryDirectory());
    expect(words).toEqual([]);
    expect(text).toMatch(/^## What production would change\nUnknown: [^\n]+\n$/);
  });
});
