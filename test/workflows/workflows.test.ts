import { describe, expect, test } from "vitest";
import { expression, readWorkflow, type Step } from "./steps.ts";

const ci = await readWorkflow("ci.yml");
const deploy = await readWorkflow("deploy.yml");
const deployEnvironment = await readWorkflow("deploy-environment.yml");
const deployJob: { steps: Step[] } & Record<string, unknown> = deployEnvironment.jobs.deploy;

/** The step of a job with this name. */
function findStep(job: { steps: Step[] }, wanted: string) {
  const index = job.steps.findIndex(({ name }) => name === wanted);
  const step = job.steps[index];
  if (!step) throw new Error(`The job has no step "${wanted}"`);
  return { index, step };
}

/** The first step of a job that uses an action. */
function findUse(job: { steps: Step[] }, action: string) {
  const index = job.steps.findIndex(({ uses }) => uses?.startsWith(`${action}@`));
  const step = job.steps[index];
  if (!step) throw new Error(`The job does not use ${action}`);
  return { index, step };
}

describe.each(["ci.yml", "deploy.yml", "deploy-environment.yml", "rehearse.yml"])(
  "the workflow %s",
  async (name) => {
    const { text, jobs } = await readWorkflow(name);
    const steps = Object.values<{ steps?: Step[] }>(jobs).flatMap(({ steps = [] }) => steps);

    test("pins every action to a commit of a version", () => {
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

    test("runs no script with text that a caller chose", () => {
      for (const { run = "" } of steps) expect(run).not.toContain("${{");
    });

    test("never continues after a failure", () => {
      // Another shell might not stop at the first command that fails.
      expect(text).not.toMatch(/continue-on-error|always\(\)|\|\| true|shell:|defaults:/);
    });
  },
);

/** Every job by its name, with its permissions. */
const jobs = Object.entries<{ permissions?: Record<string, string>; uses?: string }>({
  ...ci.jobs,
  ...deploy.jobs,
  ...deployEnvironment.jobs,
});

test("only jobs that deploy may ask AWS for a role", () => {
  const withRole = jobs.filter(([, { permissions }]) => permissions?.["id-token"]);
  // A third environment is one more of them.
  const deploying = jobs.filter(
    ([, { uses }]) => uses === "./.github/workflows/deploy-environment.yml",
  );
  expect(withRole.map(([name]) => name)).toEqual([...deploying.map(([name]) => name), "deploy"]);
});

test("no job may write to the repository", () => {
  for (const [, { permissions: { "id-token": _, ...others } = {} }] of jobs) {
    for (const access of Object.values(others)) expect(access).toBe("read");
  }
  expect(ci.permissions).toEqual({ contents: "read" });
  expect(deploy.permissions).toEqual({});
  expect(deployEnvironment.permissions).toEqual({});
});

test("only a push to main or a person starts a deployment", () => {
  expect(deploy.on).toEqual({ push: { branches: ["main"] }, workflow_dispatch: expect.anything() });
});

test("a deployment runs in GitHub's environment, which has the reviewers and the role", () => {
  expect(deployJob["environment"]).toBe(expression("inputs.environment"));
});

const deployScripts = deployJob.steps.map(({ run = "" }) => run).join("\n");

test("the job that can assume a role builds and tests nothing", () => {
  expect(deployScripts).not.toMatch(/synth|npm test|npx/);
});

test("the job that can assume a role runs no install script", () => {
  for (const [install] of deployScripts.matchAll(/npm (?:ci|install).*/g)) {
    expect(install).toContain("--ignore-scripts");
  }
});

const credentials = findUse(deployJob, "aws-actions/configure-aws-credentials");

test("a missing build is rejected before the job gets credentials", () => {
  const missing = findStep(deployJob, "Reject a build that is not where it is deployed from").index;
  expect(missing).toBeGreaterThan(findUse(deployJob, "actions/download-artifact").index);
  expect(missing).toBeLessThan(credentials.index);
});

test("all code is installed before the job gets credentials", () => {
  const installs = deployJob.steps.findLastIndex(({ run }) => run?.startsWith("npm ci"));
  expect(installs).toBeLessThan(credentials.index);
});

test("staging waits for the build and its tests", () => {
  expect(deploy.jobs.staging).toMatchObject({ needs: ["commit", "build", "ci"] });
});

test("production waits for the build, its summary and staging", () => {
  const { production } = deploy.jobs;
  // And perhaps for a third environment.
  const needed = ["commit", "build", "changes", "staging"];
  expect(production.needs).toEqual(expect.arrayContaining(needed));
});

test("a rollback waits for the build alone", () => {
  expect(deploy.jobs["straight-to-production"]).toMatchObject({
    needs: ["commit", "build"],
    if: expression("inputs.straight-to-production"),
  });
});

test("a rollback skips the tests and the jobs that wait for them", () => {
  const { ci: tests, staging, production } = deploy.jobs;
  expect(tests.if).toBe(expression("!inputs.straight-to-production"));
  // A job without a condition of its own is skipped where one that it needs is.
  expect([staging.if, production.if]).toEqual([undefined, undefined]);
});

test("a rollback's build is good for one attempt", () => {
  // CloudFormation sets the aliases only the first time that a build without the canary is
  // deployed.
  const { step } = findStep(deployJob, "Reject the assembly of an earlier attempt");
  expect(step).toMatchObject({
    if: expression("inputs.only-attempt && inputs.only-attempt != github.run_attempt"),
    run: expect.stringContaining("exit 1"),
  });
  expect(deploy.jobs["straight-to-production"].with["only-attempt"]).toBe(
    expression("needs.build.outputs.attempt"),
  );
});

const acceptedCommit = expression("needs.commit.outputs.sha");

test("the accepted commit is the one that is tested and built", () => {
  const { build, ci: tests, commit } = deploy.jobs;
  const { step } = findStep(commit, "Accept only a commit that main contains");
  expect(step.env).toEqual({
    COMMIT: expression("inputs.straight-to-production || github.sha"),
  });
  expect([tests.with.ref, build.steps[0].with.ref]).toEqual([acceptedCommit, acceptedCommit]);
});

test.each(["staging", "production", "straight-to-production"])(
  "%s gets the commit, its build and the findings to accept",
  (job) => {
    expect(deploy.jobs[job].with).toMatchObject({
      commit: acceptedCommit,
      assembly: expression("needs.build.outputs.assembly"),
      accept: expression("inputs.accept"),
    });
  },
);

test("a deployment keeps its template before anything else can fail", () => {
  const deployed = findStep(deployJob, "Deploy").index;
  expect(findUse(deployJob, "actions/upload-artifact").index).toBe(deployed + 1);
});

test("a deployment that is run again replaces the template it kept", () => {
  const { step } = findUse(deployJob, "actions/upload-artifact");
  expect(step.with).toMatchObject({ overwrite: true });
});

test("every attempt of a run stores a build of its own", () => {
  const { step } = findUse(deploy.jobs.build, "actions/upload-artifact");
  expect(step.with?.["name"]).toContain(expression("github.run_attempt"));
});

test("an attempt deploys its own build", () => {
  const { build } = deploy.jobs;
  const { step } = findUse(build, "actions/upload-artifact");
  expect(build.outputs.assembly).toBe(expression(`steps.${step.id}.outputs.artifact-id`));
});

test("a build uses today's settings unless own-settings is chosen", () => {
  const { step } = findStep(deploy.jobs.build, "Take today's settings");
  expect(step.if).toBe(expression("!inputs.own-settings"));
});

test("a rollback is built without the canary", () => {
  const { step } = findStep(deploy.jobs.build, "Build");
  expect(step.env).toEqual({
    ACCEPT: expression("inputs.accept"),
    CANARY: expression("!inputs.straight-to-production"),
  });
});

test("one run at a time deploys to an environment", () => {
  const group = `deploy-${expression("inputs.environment")}`;
  expect(deployJob["concurrency"]).toMatchObject({ group });
});

test("a deployment is never cut off by the next one", () => {
  expect(deployJob["concurrency"]).toMatchObject({ "cancel-in-progress": false });
});

const minutes = Number(deployJob["timeout-minutes"]);

test("a deployment has time for a new domain and the canary", () => {
  const domain = 60;
  const canary = 10;
  expect(minutes).toBeGreaterThan(domain + canary);
});

test("the credentials last as long as the deployment may", () => {
  expect(credentials.step.with?.["role-duration-seconds"]).toBe(minutes * 60);
});

/** The commits that are checked out where a deployment runs, by their directories. */
const checkouts = Object.fromEntries(
  deployJob.steps
    .filter(({ uses }) => uses?.startsWith("actions/checkout@"))
    .map(({ with: { ref, path = "." } = {} }) => [path, ref]),
);

test("a deployment uses today's tools", () => {
  expect(checkouts["."]).toBe(expression("github.sha"));
});

test("the smoke test is that of the commit which is deployed", () => {
  expect(checkouts["commit"]).toBe(expression("inputs.commit"));
});
