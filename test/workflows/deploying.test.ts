import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { artifact, withArtifacts } from "./artifacts.ts";
import { downloadPath, readWorkflow, runStep, temporaryDirectory } from "./steps.ts";

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
 * @param ACCEPT the findings that are accepted.
 * @param fails words of the call of `npm` that fails.
 */
async function run(step: string, ACCEPT = "removed:Own@1 added:Own@2", fails = "nothing") {
  const directory = await temporaryDirectory();
  const npm = `case "$*" in
    *"${fails}"*) exit 1;;
    *issue*) echo pets_made_up;;
    *smoke*) pwd; env;;
  esac`;
  const assembly = join(directory, downloadPath(deployJob));
  await mkdir(assembly);
  await mkdir(join(directory, "commit"));
  await writeFile(join(assembly, "manifest.json"), "{}");
  await writeFile(join(assembly, "Orders.template.json"), "the template");
  const outputs = { Orders: { BaseUrl: "https://example/v1" } };
  await writeFile(join(directory, "outputs.json"), JSON.stringify(outputs));
  const env = {
    ...credentials,
    ENVIRONMENT: "staging",
    ACCEPT,
    HOME: directory,
    RUNNER_TEMP: directory,
    GITHUB_RUN_ID: "4711",
  };
  return runStep(deployJob, step, { directory, env, programs: { npm } });
}

test("a deployment goes on when its build was downloaded, or fails with one line", async () => {
  const step = "Reject a build that is not where it is deployed from";
  expect(await run(step)).toMatchObject({ ok: true, output: "" });
  expect(await runStep(deployJob, step)).toMatchObject({
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
    `npm run --silent deploy -- staging --accept 'removed:Own@1 added:Own@2' ${app} ${outputs}`,
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
    const { calls } = await run("Smoke test", accept);
    const [issue = "", smoke] = calls;
    expect(issue).toMatch(
      /^npm run --silent admin -- --env staging keys issue --name 'smoke test 4711' --expires \S+$/,
    );
    const secondsLeft = (Date.parse(issue.replace(/.* /, "")) - Date.now()) / 1000;
    expect(Math.ceil(secondsLeft / 60)).toBe(wait / 60 + 15);
    expect(smoke).toBe(`npm run smoke -- --base-url https://example/v1 --wait ${wait}`);
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
])("the step %s stops when npm fails at %s", async (step, command, output) => {
  const { calls, ...ended } = await run(step, "", command);
  expect(ended).toMatchObject({ ok: false, output });
  expect(calls.at(-1)).toContain(command);
});

describe("a run after others", () => {
  const rejection = "Reject a run after a later one has deployed";
  const earlier = [artifact(11, "08:00"), artifact(10, "07:00")];
  const later = artifact(12, "09:00");

  test.each([
    ["on the next page", [earlier, [later]]],
    ["first", [[later, ...earlier]]],
  ])("is rejected when a later one, which GitHub lists %s, has deployed", async (_, pages) => {
    expect(await withArtifacts(deployJob, rejection, ...pages)).toMatchObject({
      ok: false,
      output: expect.stringMatching(/^::error::Run 12 is newer and has deployed to staging/),
    });
  });

  test.each([
    ["nothing was ever deployed", []],
    ["an earlier one was the last to deploy", [artifact(9, "07:00")]],
    ["it was itself the last to deploy", [artifact(10, "07:00"), artifact(11, "08:00")]],
    ["the later one was a branch's", [artifact(12, "09:00", "release")]],
    ["the later one was a fork's", [artifact(12, "09:00", "main", 8)]],
  ])("deploys when %s", async (_reason, artifacts) => {
    const query = "name=deployed-staging&per_page=100";
    expect(await withArtifacts(deployJob, rejection, artifacts)).toMatchObject({
      ok: true,
      output: "",
      calls: [`gh api --paginate --slurp repos/acme/orders/actions/artifacts?${query}`],
    });
  });
});
