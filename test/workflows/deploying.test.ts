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
 * Runs the job in run 11. `comparison`: what `petstore compare` prints; `fails`: words of the call of
 * `petstore` that fails; `last`: the run that deployed last, if one has; `built`: the file that a
 * build was downloaded with.
 */
async function deploy({
  comparison = "Nothing to accept",
  fails = "nothing",
  last = 0,
  built = "manifest.json",
} = {}) {
  const directory = await checkout();
  const assembly = download.with.path;
  const files = {
    [`${assembly}/${built}`]: "{}",
    [`${assembly}/Orders.template.json`]: "the template",
    [`${assembly}/without-canary/Orders.template.json`]: "that without the canary",
    "outputs.json": JSON.stringify({ Orders: { BaseUrl: "https://example/v1" } }),
  };
  for (const folder of [`${assembly}/without-canary`, "commit"])
    await mkdir(join(directory, folder), { recursive: true });
  for (const [name, text] of Object.entries(files))
    await writeFile(join(directory, name), text);
  const env = {
    ...credentials,
    ENVIRONMENT: "staging",
    ACCEPT: accepted,
    COMPARISON: comparison,
    HOME: directory,
    RUNNER_TEMP: directory,
    GITHUB_REPOSITORY: "acme/orders",
    GITHUB_RUN_ID: "11",
  };
  const gh = `echo '${artifactPages(last ? [[last, "09:00"]] : [])}'`;
  const petstore = `case "$*" in
    *"${fails}"*) exit 1;;
    compare*) printf '%s\\n' "$COMPARISON";;
    *issue*) echo pets_made_up;;
    *smoke*) pwd; env;;
  esac`;
  const programs = {
    gh,
    npm: "",
    "infra/petstore": petstore,
    "commit/infra/petstore": petstore,
  };
  return runJob(deployJob, { directory, env, programs });
}

const accepted = "first-deployment 0123456789abcdef0123456789abcdef";
const compared = `infra/petstore compare staging --accept '${accepted}' --app cdk.out`;
const install = "npm ci --ignore-scripts";
const asked =
  "gh api --paginate --slurp repos/acme/orders/actions/artifacts?name=deployed-staging&per_page=100";

test("the downloaded build is deployed, its template kept, and its smoke test run", async () => {
  // Run 11 has deployed: this is another attempt.
  const { ok, calls, output, directory } = await deploy({ last: 11 });
  expect(ok).toBe(true);
  const options = `--accept '${accepted}' --app cdk.out --require-approval never`;
  const issue = "infra/petstore keys issue --env staging --name 'smoke test 11'";
  expect(calls).toEqual([
    asked,
    install,
    install,
    compared,
    `infra/petstore deploy staging ${options} --outputs-file ${directory}/outputs.json`,
    expect.stringMatching(`^${issue} --expires \\S+$`),
    "infra/petstore smoke --base-url https://example/v1 --wait 120",
  ]);
  const kept = await readFile(join(directory, "deployed.template.json"), "utf8");
  expect(kept).toBe("the template");
  const [comparison, mask, folder, ...variables] = output.trim().split("\n");
  expect([comparison, mask, folder]).toEqual([
    "Nothing to accept",
    "::add-mask::pets_made_up",
    `${directory}/commit`,
  ]);
  // No credential but the key. The last three are the shell's own.
  const names = ["API_KEY", "HOME", "PATH", "PWD", "SHLVL", "_"];
  expect(variables.map((line) => line.replace(/=.*/, "")).sort()).toEqual(names);
});

const noCanary = "cdk.out/without-canary";

// test/tools/deploy has the real lines.
test.each([
  ["  Own: Description: Api/Rest: SecurityPolicy: ", "cdk.out", 120],
  ["  OwnApi/Rest: SecurityPolicy: a becomes b", "cdk.out", 120],
  ["  Api/Rest: EndpointAccessMode: BASIC becomes STRICT", noCanary, 1200],
  ["! Api/Domain/Name, Own: SecurityPolicy: a becomes b", noCanary, 1200],
  ["  Outputs.BaseUrl: Value: a becomes b", "cdk.out", 1200],
  ["Orders is not deployed in account 1, region eu-west-1", "cdk.out", 1200],
])(
  "after the line %j, %s is deployed and has %i s to be ready, and its key 15 min more",
  async (line, app, wait) => {
    const comparison = `Orders compared with what is deployed\n${line}\nAccepted`;
    const { calls, directory } = await deploy({ comparison });
    const [deployed, issue = "", smoke] = calls.slice(-3);
    expect(deployed).toContain(` --app ${app} `);
    const kept = await readFile(join(directory, "deployed.template.json"), "utf8");
    expect(kept).toBe(app === noCanary ? "that without the canary" : "the template");
    const secondsLeft = (Date.parse(issue.replace(/.* /, "")) - Date.now()) / 1000;
    expect(Math.ceil(secondsLeft / 60)).toBe(wait / 60 + 15);
    expect(smoke).toContain(` --wait ${wait}`);
  },
);

const said = "Nothing to accept\n";

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
  ["the comparison stops it", { fails: "compare staging" }, "compare staging", ""],
  ["the deployment fails", { fails: "deploy staging" }, "deploy staging", said],
  ["no key is issued", { fails: "keys issue" }, "keys issue", said],
  [
    "the smoke test fails",
    { fails: "smoke --base-url" },
    "smoke --base-url",
    `${said}::add-mask::pets_made_up\n`,
  ],
])("the job stops when %s", async (_, options, lastCall, output) => {
  const { calls, ...ended } = await deploy(options);
  expect(ended).toMatchObject({ ok: false, output });
  expect(calls.at(-1)).toContain(lastCall);
});

test("an earlier attempt's build is rejected, with one line that says how to go on", async () => {
  const step = "Reject the assembly of an earlier attempt";
  expect(await runStep(deployJob, step, {})).toMatchObject({
    ok: false,
    output: expect.stringMatching(
      /^::error::Re-run all jobs, not only the failed ones: /,
    ),
  });
});
