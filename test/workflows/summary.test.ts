import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Artifact, artifactPages, checkout, readWorkflow, runJob } from "./steps.ts";

const { changes } = (await readWorkflow("deploy.yml")).jobs;

const earlier: Artifact[] = [
  [11, "08:00"],
  [10, "07:00"],
];

/** Runs the job with a script for `petstore`. Of the artifacts, that of run 1 has expired. */
async function summarise(petstore: string, listed = artifactPages(earlier)) {
  const directory = await checkout();
  const file = join(directory, "summary");
  const env = {
    GITHUB_REPOSITORY: "acme/orders",
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_STEP_SUMMARY: file,
    ACCEPT: "1 2",
  };
  const programs = {
    gh: `case $* in *name=*) echo '${listed}';; */100/zip) exit 1;; *) echo "the template";; esac`,
    npm: "",
    "infra/petstore": petstore,
    unzip: 'mkdir -p "$4"; cp "$2" "$4/last.template.json"',
  };
  const ended = await runJob(changes, { directory, env, programs });
  return { ...ended, summary: await readFile(file, "utf8") };
}

const title = "## What production would change\n";

test("the summary lists what would stop the deployment, then every change", async () => {
  const petstore =
    '[ $1 = diff ] && echo "[~] Stage" >&2 || { echo "STOP  Read every line"; exit 1; }';
  const { directory, calls, ...ended } = await summarise(petstore);
  const run = "https://github.com/acme/orders/actions/runs/11";
  expect(ended).toEqual({
    ok: true,
    output: "",
    summary: `${title}Compared with what [run 11](${run}) deployed at 2026-11-20T08:00:00Z.

    STOP  Read every line
    [~] Stage
`,
  });
  const artifacts = "repos/acme/orders/actions/artifacts";
  const against = "production --app cdk.out --template deployed/last.template.json";
  expect(calls).toEqual([
    "npm ci",
    `gh api --paginate --slurp ${artifacts}?name=deployed-production&per_page=100`,
    `gh api ${artifacts}/1100/zip`,
    "unzip -q deployed.zip -d deployed",
    `infra/petstore compare ${against} --accept '1 2'`,
    `infra/petstore diff ${against}`,
  ]);
  const template = await readFile(join(directory, "deployed/last.template.json"), "utf8");
  expect(template).toBe("the template\n");
});

test("no text of a change can break out of the code block, not even a fence after any line end", async () => {
  const fences = ["\\n", "\\r", "\\r\\n"].map((end) => `${end}\`\`\`${end}<!--`).join("");
  const { summary } = await summarise(`printf 'Description:${fences}'`);
  const [, , , ...lines] = summary.split(/\r\n|\r|\n/);
  // Both commands print it.
  expect(lines.join("").split("```")).toHaveLength(7);
  for (const line of lines.filter(Boolean)) expect(line).toMatch(/^ {4}/);
});

test.each(["compare", "diff"])("the job fails when %s can't be made", async (word) => {
  const petstore = `[ $1 != ${word} ] || exit 2`;
  expect(await summarise(petstore)).toMatchObject({ ok: false });
});

test.each([
  ["nothing was ever deployed", artifactPages([])],
  ["the last template has expired", artifactPages([[1, "07:00"]])],
])("the summary says that nothing is known when %s", async (_reason, listed) => {
  const { ok, summary } = await summarise("exit 1", listed);
  expect(ok).toBe(true);
  const unknown =
    "Unknown: this workflow has not deployed production in the last 90 days.";
  expect(summary).toBe(`${title}${unknown}\n`);
});

test.each<[number | "", where: string, ...pages: Artifact[][]]>([
  [12, "on the last page", earlier, [[12, "09:00"]]],
  [12, "first", [[12, "09:00"], ...earlier]],
  [11, "before a branch's", [...earlier, [12, "09:00", "release"]]],
  [11, "before one whose run is gone", [...earlier, [null, "09:00"]]],
  [11, "before a fork's", [...earlier, [12, "09:00", "main", 8]]],
  ["", "nowhere", []],
])("run %j deployed last when GitHub lists it %s", (run, _where, ...pages) => {
  const words = [".github/newest-deployment.mjs"];
  const input = artifactPages(...pages);
  const printed = execFileSync(process.execPath, words, { input, encoding: "utf8" });
  expect(printed.split(" ")[0]).toBe(`${run}`);
});
