import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  artifactPages,
  checkout,
  readWorkflow,
  runJob,
  runStep,
  type Step,
} from "./steps.ts";

const { deploy: deployJob } = (await readWorkflow("deploy-environment.yml")).jobs;
const download = deployJob.steps.find(({ uses }: Step) =>
  /download-artifact/.test(`${uses}`),
);

/** No code of an old commit may have them. */
const credentials = {
  AWS_ACCESS_KEY_ID: "made-up",
  AWS_SECRET_ACCESS_KEY: "made-up",
  AWS_SESSION_TOKEN: "made-up",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "made-up",
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://example.com",
  GITHUB_ENV: "/dev/null",
};

/**
 * Runs the job, or one step of it, in run 11. `fails`: words of the call of `petstore` that fails;
 * `last`: the run that deployed last, if one has; `built`: the file that a build was downloaded with.
 */
async function deploy({
  accept = "removed:Own@1 added:Own@2",
  fails = "nothing",
  last = 0,
  built = "manifest.json",
  step = "",
} = {}) {
  const directory = await checkout();
  const assembly = download.with.path;
  const files = {
    [`${assembly}/${built}`]: "{}",
    [`${assembly}/Orders.template.json`]: "the template",
    "outputs.json": JSON.stringify({ Orders: { BaseUrl: "https://example/v1" } }),
  };
  for (const folder of [assembly, "commit"]) await mkdir(join(directory, folder));
  for (const [name, text] of Object.entries(files))
    await writeFile(join(directory, name), text);
  const env = {
    ...credentials,
    ENVIRONMENT: "staging",
    ACCEPT: accept,
    HOME: directory,
    RUNNER_TEMP: directory,
    GITHUB_REPOSITORY: "acme/orders",
    GITHUB_RUN_ID: "11",
  };
  const gh = `echo '${artifactPages(last ? [[last, "09:00"]] : [])}'`;
  const petstore = `case "$*" in
    *"${fails}"*) exit 1;;
    *issue*) echo pets_made_up;;
    *smoke*) pwd; env;;
  esac`;
  const programs = {
    gh,
    npm: "",
    "infra/petstore": petstore,
    "commit/infra/petstore": petstore,
  };
  const options = { directory, env, programs };
  return step ? runStep(deployJob, step, options) : runJob(deployJob, options);
}

const install = "npm ci --ignore-scripts";
const asked =
  "gh api --paginate --slurp repos/acme/orders/actions/artifacts?name=deployed-staging&per_page=100";

test("the downloaded build is deployed, its template kept, and its smoke test run", async () => {
  // Run 11 has deployed: this is another attempt.
  const { ok, calls, output, directory } = await deploy({ last: 11 });
  expect(ok).toBe(true);
  const accepted =
    "--accept 'removed:Own@1 added:Own@2' --app cdk.out --require-approval never";
  const issue = "infra/petstore keys issue --env staging --name 'smoke test 11'";
  expect(calls).toEqual([
    asked,
    install,
    install,
    `infra/petstore deploy staging ${accepted} --outputs-file ${directory}/outputs.json`,
    expect.stringMatching(`^${issue} --expires \\S+$`),
    "infra/petstore smoke --base-url https://example/v1 --wait 120",
  ]);
  const kept = await readFile(join(directory, "deployed.template.json"), "utf8");
  expect(kept).toBe("the template");
  const [mask, folder, ...variables] = output.trim().split("\n");
  expect([mask, folder]).toEqual(["::add-mask::pets_made_up", `${directory}/commit`]);
  // No credential but the key. The last three are the shell's own.
  const names = ["API_KEY", "HOME", "PATH", "PWD", "SHLVL", "_"];
  expect(variables.map((line) => line.replace(/=.*/, "")).sort()).toEqual(names);
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
    const { calls } = await deploy({ accept, step: "Smoke test" });
    const [issue = "", smoke] = calls;
    const secondsLeft = (Date.parse(issue.replace(/.* /, "")) - Date.now()) / 1000;
    expect(Math.ceil(secondsLeft / 60)).toBe(wait / 60 + 15);
    expect(smoke).toContain(` --wait ${wait}`);
  },
);

test.each([
  [
    "there is no build",
    { built: "other.json" },
    install,
    "::error::There is no build in cdk.out\n",
  ],
  [
    "a later run has deployed",
    { last: 12 },
    asked,
    "::error::Run 12 is newer and has deployed to staging. Start a new run instead of this one\n",
  ],
  ["the deployment fails", { fails: "deploy staging" }, "deploy staging", ""],
  ["no key is issued", { fails: "keys issue" }, "keys issue", ""],
  [
    "the smoke test fails",
    { fails: "smoke --base-url" },
    "smoke --base-url",
    "::add-mask::pets_made_up\n",
  ],
])("the job stops when %s", async (_, options, lastCall, output) => {
  const { calls, ...ended } = await deploy(options);
  expect(ended).toMatchObject({ ok: false, output });
  expect(calls.at(-1)).toContain(lastCall);
});
