import { globSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { expression, readWorkflow, type Step } from "./steps.ts";

interface Job {
  steps?: Step[];
  permissions?: Record<string, string>;
  uses?: string;
}

const workflows = await Promise.all(
  globSync(".github/workflows/*.yml").map(async (file) => {
    const name = basename(file);
    return { name, ...(await readWorkflow(name)) };
  }),
);
const deploy = await readWorkflow("deploy.yml");
const deployJob: { steps: Step[] } & Record<string, unknown> = (
  await readWorkflow("deploy-environment.yml")
).jobs.deploy;
const { build, ci, commit, production, staging, "straight-to-production": rollback } = deploy.jobs;

/** Finds a step of a job by its name or by the action it uses. */
function find({ steps }: { steps: Step[] }, wanted: string) {
  const index = steps.findIndex(({ name, uses }) => name === wanted || uses?.startsWith(wanted));
  const step = steps[index];
  if (!step) throw new Error(`The job has no step ${wanted}`);
  return { index, step };
}

describe.each(workflows)("the workflow $name", ({ text, jobs, permissions }) => {
  const steps = Object.values<Job>(jobs).flatMap(({ steps = [] }) => steps);

  test("pins every action to a commit of a version", () => {
    for (const [, action] of text.matchAll(/uses: (?!\.\/)(.*)/g))
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("stores no credentials, and may write nothing", () => {
    expect(permissions).toBeDefined();
    expect(text).not.toMatch(/secrets|aws-access-key-id|AWS_SECRET|: write(?<!id-token: write)/);
    for (const { uses, with: options } of steps) {
      if (uses?.startsWith("actions/checkout@"))
        expect(options).toMatchObject({ "persist-credentials": false });
    }
  });

  test("runs no script with text that a caller chose, and none after a failure", () => {
    for (const { run = "" } of steps) expect(run).not.toContain("${{");
    // Another shell might not stop at the first command that fails.
    expect(text).not.toMatch(/continue-on-error|always\(\)|\|\| true|shell:|defaults:/);
  });

  test("lets only jobs that deploy, or look for drift, ask AWS for a role", () => {
    for (const [name, { permissions, uses }] of Object.entries<Job>(jobs)) {
      const mayAsk = uses === "./.github/workflows/deploy-environment.yml";
      const isAsking = permissions?.["id-token"] === "write";
      expect(isAsking, name).toBe(mayAsk || ["deploy", "drift"].includes(name));
    }
  });
});

test.each(
  workflows
    .flatMap(({ jobs }) => Object.entries<Job>(jobs))
    .flatMap(([name, { steps = [] }]) => {
      const role = steps.findIndex(({ uses }) => uses?.startsWith("aws-actions/configure-aws"));
      return role === -1 ? [] : [[name, steps, role] as const];
    }),
)("the job %s installs all code before it has a role, and builds nothing", (_, steps, role) => {
  expect(steps.findLastIndex(({ run }) => run?.startsWith("npm ci"))).toBeLessThan(role);
  const scripts = steps.map(({ run = "" }) => run).join("\n");
  expect(scripts).not.toMatch(/synth|npm test|npx|npm ci(?! --ignore-scripts)/);
});

test("only a push to main or a person starts a deployment", () => {
  expect(deploy.on).toEqual({ push: { branches: ["main"] }, workflow_dispatch: expect.anything() });
});

test("a deployment runs in GitHub's environment, which has the reviewers and the role", () => {
  expect(deployJob["environment"]).toBe(expression("inputs.environment"));
});

test("one run at a time deploys to an environment, and the next one never cuts it off", () => {
  const group = `deploy-${expression("inputs.environment")}`;
  expect(deployJob["concurrency"]).toEqual({ group, "cancel-in-progress": false });
});

test("staging waits for the build and its tests, production for staging and the summary", () => {
  expect(staging.needs).toEqual(["commit", "build", "ci"]);
  // And perhaps for a third environment.
  expect(production.needs).toEqual(expect.arrayContaining(["build", "changes", "staging"]));
});

test("a rollback waits for its build alone, which has no canary and is good for one attempt", () => {
  expect(rollback.needs).toEqual(["commit", "build"]);
  expect(rollback.if).toBe(expression("inputs.straight-to-production"));
  expect(ci.if).toBe(expression("!inputs.straight-to-production"));
  // A job without a condition of its own is skipped where one that it needs is.
  expect([staging.if, production.if]).toEqual([undefined, undefined]);
  const { CANARY } = find(build, "Build").step.env ?? {};
  expect(CANARY).toBe(expression("!inputs.straight-to-production"));
  // CloudFormation sets the aliases only the first time that such a build is deployed.
  expect(rollback.with["only-attempt"]).toBe(expression("needs.build.outputs.attempt"));
  expect(find(deployJob, "Reject the assembly of an earlier attempt").step.if).toBe(
    expression("inputs.only-attempt && inputs.only-attempt != github.run_attempt"),
  );
});

test("the accepted commit is tested, built with today's settings, and deployed", () => {
  const accepted = expression("needs.commit.outputs.sha");
  const chosen = expression("inputs.straight-to-production || github.sha");
  expect(find(commit, "Accept only a commit that main contains").step.env?.["COMMIT"]).toBe(chosen);
  expect([ci.with.ref, build.steps[0].with.ref]).toEqual([accepted, accepted]);
  expect(find(build, "Take today's settings").step.if).toBe(expression("!inputs.own-settings"));
  for (const job of [staging, production, rollback]) {
    expect(job.with).toMatchObject({
      commit: accepted,
      assembly: expression("needs.build.outputs.assembly"),
      accept: expression("inputs.accept"),
    });
  }
});

test("an attempt stores and deploys a build of its own", () => {
  const { id, with: options } = find(build, "actions/upload-artifact").step;
  expect(options?.["name"]).toContain(expression("github.run_attempt"));
  expect(build.outputs.assembly).toBe(expression(`steps.${id}.outputs.artifact-id`));
});

test("a missing build is rejected before the job has a role", () => {
  const missing = find(deployJob, "Reject a build that is not where it is deployed from").index;
  expect(missing).toBeGreaterThan(find(deployJob, "actions/download-artifact").index);
  expect(missing).toBeLessThan(find(deployJob, "aws-actions/configure-aws-credentials").index);
});

test("a deployment keeps its template, even when run again, before anything else can fail", () => {
  const { index, step } = find(deployJob, "actions/upload-artifact");
  expect(index).toBe(find(deployJob, "Deploy").index + 1);
  expect(step.with).toMatchObject({ overwrite: true });
});

test("a deployment, and its role, have time for a new domain and the canary", () => {
  const minutes = Number(deployJob["timeout-minutes"]);
  const role = find(deployJob, "aws-actions/configure-aws-credentials").step.with;
  const [domain, canary] = [60, 10];
  expect(minutes).toBeGreaterThan(domain + canary);
  expect(role?.["role-duration-seconds"]).toBe(minutes * 60);
});

test("today's tools deploy, and the deployed commit's smoke test follows", () => {
  const checkouts = deployJob.steps
    .filter(({ uses }) => uses?.startsWith("actions/checkout@"))
    .map(({ with: { ref, path = "." } = {} }) => [path, ref]);
  expect(Object.fromEntries(checkouts)).toEqual({
    ".": expression("github.sha"),
    commit: expression("inputs.commit"),
  });
});
