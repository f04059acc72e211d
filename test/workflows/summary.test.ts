import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { artifact, withArtifacts } from "./artifacts.ts";
import { downloadPath, readWorkflow, runStep } from "./steps.ts";

const { changes } = (await readWorkflow("deploy.yml")).jobs;

/**
 * Writes the summary with a shell script in place of `npm`, while GitHub lists these artifacts.
 *
 * @returns how that ended, the calls of `gh` and `npm`, and the summary.
 */
async function summarise(npm: string, artifacts = [artifact(10, "07:00"), artifact(9, "06:00")]) {
  const fetch = "Fetch the template that production got last";
  const fetched = await withArtifacts(changes, fetch, artifacts);
  const { directory } = fetched;
  const file = join(directory, "summary");
  const said = await runStep(changes, "Say what production would change", {
    directory,
    env: { GITHUB_STEP_SUMMARY: file, ACCEPT: "added:Own@1 removed:Own@2" },
    programs: { npm },
  });
  const calls = [...fetched.calls, ...said.calls];
  const summary = await readFile(file, "utf8");
  return { directory, ok: fetched.ok && said.ok, printed: said.output, calls, summary };
}

const title = "## What production would change\n";

test("the summary lists what would stop the deployment, then every change", async () => {
  const npm = '[ $3 = diff ] && echo "[~] Stage" >&2 || { echo "STOP added:Own@1"; exit 1; }';
  const { directory, calls, ...ended } = await summarise(npm);
  const run = "https://github.com/acme/orders/actions/runs/10";
  expect(ended).toEqual({
    ok: true,
    printed: "",
    summary: `${title}Compared with what [run 10](${run}) deployed at 2026-11-20T07:00:00Z.

    STOP added:Own@1
    [~] Stage
`,
  });
  const artifacts = "repos/acme/orders/actions/artifacts";
  const template = "deployed/last.template.json";
  const against = `production --app ${downloadPath(changes)} --template ${template}`;
  expect(calls).toEqual([
    `gh api --paginate --slurp ${artifacts}?name=deployed-production&per_page=100`,
    `gh api ${artifacts}/1000/zip`,
    "unzip -q deployed.zip -d deployed",
    `npm run --silent compare -- ${against} --accept 'added:Own@1 removed:Own@2'`,
    `npm run --silent diff -- ${against}`,
  ]);
  expect(await readFile(join(directory, template), "utf8")).toBe("the template\n");
});

test.each(["\\n", "\\r", "\\r\\n"])(
  "no text of a change can break out of the code block, not even a fence after %s",
  async (lineEnd) => {
    const npm = `printf 'Description:${lineEnd}\`\`\`${lineEnd}<!--${lineEnd}'`;
    const { summary } = await summarise(npm);
    const [, , , ...lines] = summary.split(/\r\n|\r|\n/);
    expect(lines.join("")).toContain("```");
    for (const line of lines.filter(Boolean)) expect(line).toMatch(/^ {4}/);
  },
);

test("the job fails when the comparison can't be made", async () => {
  expect(await summarise("exit 2")).toMatchObject({ ok: false });
});

test.each([
  ["nothing was ever deployed", []],
  ["the last template has expired", [artifact(1, "07:00")]],
])("the summary says that nothing is known when %s", async (_reason, artifacts) => {
  const { ok, summary } = await summarise("exit 1", artifacts);
  expect(ok).toBe(true);
  expect(summary).toMatch(new RegExp(`^${title}Unknown: [^\\n]+\\n$`));
});
