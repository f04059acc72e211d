import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { artifact, withArtifacts } from "./artifacts.ts";
import { downloadPath, readWorkflow, runScript, standIn, temporaryDirectory } from "./steps.ts";

const { changes } = (await readWorkflow("deploy.yml")).jobs;
const fetchTemplate = "Fetch the template that production got last";

/** Runs the step that writes the summary, with this shell script in place of `npm`. */
async function summarise(directory: string, npm: string) {
  const calls = await standIn(directory, "npm", npm);
  const summary = join(directory, "summary");
  const result = await runScript(changes, "Say what production would change", directory, {
    GITHUB_STEP_SUMMARY: summary,
    ACCEPT: "added:Own@1 removed:Own@2",
  });
  return { ...result, text: await readFile(summary, "utf8"), calls };
}

/** A directory as the steps before that one leave it. */
async function fetched(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "deployed"));
  await writeFile(join(directory, "deployed/deployed.template.json"), "{}");
  await writeFile(join(directory, "deployed/from"), "Compared with run 10.\n");
  return directory;
}

const title = "## What production would change\n";

const twoRuns = [artifact(10, "07:00"), artifact(9, "06:00")];

test("the summary compares with the template of the last run that deployed", async () => {
  const { directory, calls } = await withArtifacts(changes, fetchTemplate, twoRuns);
  expect(calls[0]).toContain("artifacts?name=deployed-production&");
  const template = await readFile(join(directory, "deployed/template"), "utf8");
  expect(template).toContain("artifacts/1000/zip");
  const { text } = await summarise(directory, "");
  const url = "https://github.com/acme/orders/actions/runs/10";
  expect(text).toContain(`Compared with what [run 10](${url}) deployed at 2026-`);
});

test("the downloaded build is compared with production's last template", async () => {
  const { calls } = await summarise(await fetched(), "");
  const template = "deployed/deployed.template.json";
  const against = `production --app ${downloadPath(changes)} --template ${template}`;
  expect(await calls()).toEqual([
    `run --silent compare -- ${against} --accept 'added:Own@1 removed:Own@2'`,
    `run --silent diff -- ${against}`,
  ]);
});

test("the summary lists what would stop the deployment before the changes", async () => {
  const npm = '[ $3 = diff ] && echo "[~] Stage" >&2 || { echo "STOP added:Own@1"; exit 1; }';
  const { ok, output, text } = await summarise(await fetched(), npm);
  expect(ok).toBe(true);
  expect(output).toBe("");
  expect(text).toBe(`${title}Compared with run 10.\n\n    STOP added:Own@1\n    [~] Stage\n`);
});

test.each(["\\n", "\\r", "\\r\\n"])(
  "no text of a change can break out of the code block, not even a fence after %s",
  async (lineEnd) => {
    const npm = `printf 'Description:${lineEnd}\`\`\`${lineEnd}<!--${lineEnd}'`;
    const { text } = await summarise(await fetched(), npm);
    const [, , , ...lines] = text.split(/\r\n|\r|\n/);
    expect(lines.join("")).toContain("```");
    for (const line of lines.filter(Boolean)) expect(line).toMatch(/^ {4}/);
  },
);

test("the job fails when the comparison can't be made", async () => {
  expect((await summarise(await fetched(), "exit 2")).ok).toBe(false);
});

test.each([
  ["nothing was ever deployed", []],
  ["the last template has expired", [artifact(1, "07:00")]],
])("the summary says that nothing is known when %s", async (_reason, artifacts) => {
  const { ok, directory } = await withArtifacts(changes, fetchTemplate, artifacts);
  const summary = await summarise(directory, "exit 1");
  expect(ok).toBe(true);
  expect(summary.ok).toBe(true);
  expect(summary.text).toMatch(new RegExp(`^${title}Unknown: [^\\n]+\\n$`));
});
