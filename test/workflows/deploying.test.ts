import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { downloadPath, readWorkflow, runScript, standIn, temporaryDirectory } from "./steps.ts";

const deployJob = (await readWorkflow("deploy-environment.yml")).jobs.deploy;

/** The credentials of the deployment, which no code of an old commit may have. */
const credentials = {
  AWS_ACCESS_KEY_ID: "made-up",
  AWS_SECRET_ACCESS_KEY: "made-up",
  AWS_SESSION_TOKEN: "made-up",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "made-up",
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://example.com",
  GITHUB_ENV: "/dev/null",
};

/**
 * Runs a step after the ones before it, with a stand-in for `npm`.
 *
 * @param options the words of the call of `npm` that fails, and the findings that are accepted.
 */
async function run(
  stepName: string,
  {
    fails = "nothing",
    accept = "removed:Own@1 added:Own@2",
  }: { fails?: string; accept?: string } = {},
) {
  const directory = await temporaryDirectory();
  const does = `case "$*" in
    *"${fails}"*) exit 1;;
    *issue*) echo pets_made_up;;
    *smoke*) pwd; env;;
  esac`;
  const calls = await standIn(directory, "npm", does);
  const assembly = join(directory, downloadPath(deployJob));
  await mkdir(assembly);
  await mkdir(join(directory, "commit"));
  await writeFile(join(assembly, "manifest.json"), "{}");
  await writeFile(join(assembly, "Orders.template.json"), "the template");
  const outputs = { Orders: { BaseUrl: "https://example/v1" } };
  await writeFile(join(directory, "outputs.json"), JSON.stringify(outputs));
  const { ok, output } = await runScript(deployJob, stepName, directory, {
    ...credentials,
    ENVIRONMENT: "staging",
    ACCEPT: accept,
    HOME: directory,
    RUNNER_TEMP: directory,
    GITHUB_RUN_ID: "4711",
  });
  return { ok, output, directory, calls: await calls() };
}

const missingBuild = "Reject a build that is not where it is deployed from";

test("a deployment goes on when its build was downloaded, or fails with one line", async () => {
  expect(await run(missingBuild)).toMatchObject({ ok: true, output: "" });
  expect(await runScript(deployJob, missingBuild, await temporaryDirectory())).toEqual({
    ok: false,
    output: "::error::There is no build in cdk.out\n",
  });
});

test("the downloaded build is deployed, and its template kept for the next comparison", async () => {
  const { ok, calls, directory } = await run("Deploy");
  expect(ok).toBe(true);
  const app = `--app ${downloadPath(deployJob)} --require-approval never`;
  const outputs = `--outputs-file ${directory}/outputs.json`;
  expect(calls).toEqual([
    `run --silent deploy -- staging --accept 'removed:Own@1 added:Own@2' ${app} ${outputs}`,
  ]);
  expect(await readFile(join(directory, "deployed.template.json"), "utf8")).toBe("the template");
});

test.each([
  ["", 120],
  ["removed:Own@1 Other/Api/Rest.SecurityPolicy=a", 120],
  ["removed:Own@1\nApi/Rest.EndpointAccessMode=a", 1200],
  ["Outputs.BaseUrl.Value=a", 1200],
  ["first-deployment", 1200],
])(
  "a stage for which %j is accepted has %i s to be ready, and 15 min more",
  async (accept, wait) => {
    const { calls } = await run("Smoke test", { accept });
    const [issue = "", smoke] = calls;
    expect(issue).toMatch(
      /^run --silent admin -- --env staging keys issue --name 'smoke test 4711' --expires \S+$/,
    );
    const secondsLeft = (Date.parse(issue.replace(/.* /, "")) - Date.now()) / 1000;
    expect(Math.ceil(secondsLeft / 60)).toBe(wait / 60 + 15);
    expect(smoke).toBe(`run smoke -- --base-url https://example/v1 --wait ${wait}`);
  },
);

test("the deployed commit's smoke test gets no credential but its key, which is masked", async () => {
  const { ok, output, directory } = await run("Smoke test");
  expect(ok).toBe(true);
  const [mask, folder, ...variables] = output.trim().split("\n");
  expect([mask, folder]).toEqual(["::add-mask::pets_made_up", `${directory}/commit`]);
  // The last three are the shell's own.
  const names = ["API_KEY", "HOME", "PATH", "PWD", "SHLVL", "_"];
  expect(variables.map((line) => line.replace(/=.*/, "")).sort()).toEqual(names);
});

test.each([
  ["Deploy", "deploy --", ""],
  ["Smoke test", "keys issue", ""],
  ["Smoke test", "run smoke", "::add-mask::pets_made_up\n"],
])("the step %s stops when npm fails at %s", async (stepName, command, printed) => {
  const { ok, calls, output } = await run(stepName, { fails: command });
  expect(ok).toBe(false);
  expect(output).toBe(printed);
  expect(calls.at(-1)).toContain(command);
});
