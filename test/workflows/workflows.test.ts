import { describe, expect, test } from "vitest";
import { expression, readWorkflow, type Step } from "../helpers/workflows.ts";

const ci = await readWorkflow("ci.yml");
const deploy = await readWorkflow("deploy.yml");
const deployEnvironment = await readWorkflow("deploy-environment.yml");
const deployJob: { steps: Step[] } & Record<string, unknown> = deployEnvironment.jobs.deploy;

describe.each(["ci.yml", "deploy.yml", "deploy-environment.yml", "rehearse.yml"])(
  "the workflow %s",
  async (name) => {
    const { text, jobs } = await readWorkflow(name);
    const steps = Object.values<{ steps?: Step[] }>(jobs).flatMap(({ steps = [] }) => steps);

    test("pins every action to a commit, and names its version", () => {
      const actions = [...text.matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action]) => action);
      for (const action of actions)
        expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    });

    test("stores no credentials", () => {
      expect(text).not.toMatch(/secrets|aws-access-key-id|AWS_SECRET/);
      for (const { uses, with: options } of steps) {
        if (uses?.startsWith("actions/checkout@"))
          expect(options).toMatchObject({ "persist-credentials": false });
      }
    });

    test("runs no script with text that a caller chose, and goes on after no failure", () => {
      for (const { run = "" } of steps) expect(run).not.toContain("${{");
      // Another shell might not stop at the first command that fails.
      expect(text).not.toMatch(/continue-on-error|always\(\)|\|\| true|shell:|defaults:/);
    });
  },
);

test("only jobs that deploy may ask AWS for a role, no job may write, and main alone deploys", () => {
  const jobs = Object.entries<{ permissions?: Record<string, string> }>({
    ...ci.jobs,
    ...deploy.jobs,
    ...deployEnvironment.jobs,
  });
  const withRole = jobs
    .filter(([, { permissions }]) => permissions?.["id-token"])
    .map(([name]) => name);
  expect(withRole).toEqual(["staging", "production", "straight-to-production", "deploy"]);
  for (const [, { permissions: { "id-token": _, ...others } = {} }] of jobs) {
    for (const access of Object.values(others)) expect(access).toBe("read");
  }
  expect([ci.permissions, deploy.permissions, deployEnvironment.permissions]).toEqual([
    { contents: "read" },
    {},
    {},
  ]);
  expect(deploy.on).toEqual({ push: { branches: ["main"] }, workflow_dispatch: expect.anything() });
  // GitHub's environment decides who approves, and which role AWS gives.
  expect(deployJob["environment"]).toBe(expression("inputs.environment"));
});

test("where a role can be asked for, nothing is built or tested, and no package runs a script of its own", () => {
  const scripts = deployJob.steps.map(({ run = "" }) => run).join("\n");
  expect(scripts).not.toMatch(/synth|npm test|npx/);
  for (const [install] of scripts.matchAll(/npm (?:ci|install).*/g))
    expect(install).toContain("--ignore-scripts");
});

test("production waits for build, summary, tests and staging; a rollback for the build alone", () => {
  const { staging, production, "straight-to-production": straight } = deploy.jobs;
  expect(staging.needs).toEqual(["commit", "build", "ci"]);
  expect(production.needs).toEqual(["commit", "build", "changes", "staging"]);
  expect(straight).toMatchObject({
    needs: ["commit", "build"],
    if: expression("inputs.straight-to-production"),
  });
  expect(deploy.jobs.ci.if).toBe(expression("!inputs.straight-to-production"));
  // A job without a condition of its own is skipped where one that it needs is.
  expect([staging.if, production.if]).toEqual([undefined, undefined]);
  // CloudFormation sets the aliases only the first time that a build without the canary is
  // deployed.
  const earlier = expression("inputs.only-attempt && inputs.only-attempt != github.run_attempt");
  const rejects = expect.objectContaining({ if: earlier, run: expect.stringContaining("exit 1") });
  expect([straight.with["only-attempt"], deployJob.steps]).toEqual([
    expression("needs.build.outputs.attempt"),
    expect.arrayContaining([rejects]),
  ]);
});

test("the commit that is asked for is what is tested, built and deployed, with what is accepted", () => {
  const {
    build,
    ci: tests,
    commit,
    staging,
    production,
    "straight-to-production": straight,
  } = deploy.jobs;
  const { env } = commit.steps.find(
    ({ name }: Step) => name === "Accept only a commit that main contains",
  );
  expect(env.COMMIT).toBe(expression("inputs.straight-to-production || github.sha"));
  const asked = expression("needs.commit.outputs.sha");
  expect([tests.with.ref, build.steps[0].with.ref]).toEqual([asked, asked]);
  const [assembly, accept] = ["needs.build.outputs.assembly", "inputs.accept"].map(expression);
  for (const { with: inputs } of [staging, production, straight]) {
    expect(inputs).toMatchObject({ commit: asked, assembly, accept });
  }
});

test("a deployment keeps its template before anything else can fail, and replaces it when it is run again", () => {
  const upload = deployJob.steps.find(({ uses }) => uses?.startsWith("actions/upload-artifact@"));
  expect(upload?.with).toMatchObject({ overwrite: true });
  expect(deployJob.steps[deployJob.steps.findIndex(({ name }) => name === "Deploy") + 1]).toBe(
    upload,
  );
});

test("every attempt of a run stores a build of its own, and deploys that", () => {
  const { outputs, steps } = deploy.jobs.build;
  const upload = steps.find(({ uses }: Step) => uses?.startsWith("actions/upload-artifact@"));
  expect(upload.with.name).toContain(expression("github.run_attempt"));
  expect(outputs.assembly).toBe(expression(`steps.${upload.id}.outputs.artifact-id`));
});

test("a rollback, too, is built with today's settings, unless it is to have its own", () => {
  const { if: condition } = deploy.jobs.build.steps.find(
    ({ name }: Step) => name === "Take today's settings",
  );
  expect(condition).toBe(expression("!inputs.own-settings"));
});

test("a rollback and a change of TLS go without the canary", () => {
  const { env } = deploy.jobs.build.steps.find(({ name }: Step) => name === "Build");
  expect(env.CANARY).toBe(
    expression(
      "!inputs.straight-to-production && !contains(format(' {0} ', inputs.accept), ' tls ')",
    ),
  );
});

test("one run at a time deploys to an environment, is never cut off, and its role lasts as long as it may", () => {
  const group = `deploy-${expression("inputs.environment")}`;
  expect(deployJob["concurrency"]).toEqual({ group, "cancel-in-progress": false });
  const minutes = Number(deployJob["timeout-minutes"]);
  // A new domain takes up to an hour, the canary ten minutes.
  expect(minutes).toBeGreaterThan(70);
  const credentials = deployJob.steps.find(({ uses }) => uses?.startsWith("aws-actions/"))?.with;
  expect(credentials?.["role-duration-seconds"]).toBe(minutes * 60);
});

test("a deployment uses today's tools, and the smoke test of the commit it deploys", () => {
  const checkouts = deployJob.steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
  expect(checkouts.map(({ with: { ref, path } = {} }) => [path ?? ".", ref])).toEqual([
    [".", expression("github.sha")],
    ["commit", expression("inputs.commit")],
  ]);
});
