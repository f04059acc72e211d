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

test("a deployment continues when its build was downloaded", async () => {
  expect(await run(missingBuild)).toMatchObject({ ok: true, output: "" });
});

test("a deployment fails with one line when its build is missing", async () => {
  expect(await runScript(deployJob, missingBuild, await temporaryDirectory())).toEqual({
    ok: false,
    output: "::error::There is no build in cdk.out\n",
  });
});

test("the downloaded build is deployed with the accepted findings", async () => {
  const { ok, calls, directory } = await run("Deploy");
  expect(ok).toBe(true);
  const app = `--app ${downloadPath(deployJob)} --require-approval never`;
  const outputs = `--outputs-file ${directory}/outputs.json`;
  expect(calls).toEqual([
    `run --silent deploy -- staging --accept 'removed:Own@1 added:Own@2' ${app} ${outputs}`,
  ]);
});

test("the template is kept for the next comparison", async () => {
  const { directory } = await run("Deploy");
  expect(await readFile(join(directory, "deployed.template.json"), "utf8")).toBe("the template");
});

test.each([
  ["", 17],
  ["Api/Rest.SecurityPolicy=a", 35],
])("the smoke test's key, with %j accepted, expires after %i minutes", async (accept, minutes) => {
  const { calls } = await run("Smoke test", { accept });
  const [issue = ""] = calls;
  expect(issue).toMatch(
    /^run --silent admin -- --env staging keys issue --name 'smoke test 4711' --expires \S+$/,
  );
  const secondsLeft = (Date.parse(issue.replace(/.* /, "")) - Date.now()) / 1000;
  expect(Math.ceil(secondsLeft / 60)).toBe(minutes);
});

test.each([
  ["", 120],
  ["removed:Own@1 Other/Api/Rest.SecurityPolicy=a", 120],
  ["removed:Own@1\nApi/Rest.EndpointAccessMode=a", 1200],
  ["Outputs.BaseUrl.Value=a", 1200],
  ["first-deployment", 1200],
])("a stage for which %j is accepted has %i seconds to be ready", async (accept, seconds) => {
  const { calls } = await run("Smoke test", { accept });
  expect(calls[1]).toBe(`run smoke -- --base-url https://example/v1 --wait ${seconds}`);
});

test("the smoke test's key is masked before anything else is printed", async () => {
  const { output } = await run("Smoke test");
  expect(output).toMatch(/^::add-mask::pets_made_up\n/);
});

test("the smoke test runs from the deployed commit", async () => {
  const { ok, output, directory } = await run("Smoke test");
  expect(ok).toBe(true);
  expect(output).toContain(`\n${directory}/commit\n`);
});

test("the smoke test calls the address that was deployed", async () => {
  const { ok, calls } = await run("Smoke test");
  expect(ok).toBe(true);
  expect(calls.at(-1)).toMatch(/^run smoke -- --base-url https:\/\/example\/v1 /);
});

test("the smoke test gets no credential but its key", async () => {
  const { output } = await run("Smoke test");
  const variables = [...output.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  // The last three are the shell's own.
  expect(variables.sort()).toEqual(["API_KEY", "HOME", "PATH", "PWD", "SHLVL", "_"]);
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
