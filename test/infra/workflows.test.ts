import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { expression, readWorkflow, type Step, workflowNames } from "../helpers/workflows.ts";

const { workflow: ci } = await readWorkflow("ci.yml");
const { workflow: deploy } = await readWorkflow("deploy.yml");
const { workflow: deployEnvironment } = await readWorkflow("deploy-environment.yml");
const deployJob = deployEnvironment.jobs["deploy"] ?? {};

test("these are all workflows", () => {
  expect(readdirSync(new URL("../../.github/workflows/", import.meta.url)).sort()).toEqual([...workflowNames].sort());
});

describe.each(workflowNames)("the workflow %s", async (name) => {
  const { text, workflow } = await readWorkflow(name);
  const steps: Step[] = Object.values(workflow.jobs).flatMap(({ steps = [] }) => steps);

  test("pins every action to a commit, and names its version", () => {
    const actions = [...text.matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action]) => action);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("stores no credentials", () => {
    expect(text).not.toMatch(/secrets|aws-access-key-id|AWS_SECRET/);
    for (const { uses, with: options } of steps) {
      if (uses?.startsWith("actions/checkout@")) expect(options).toMatchObject({ "persist-credentials": false });
    }
  });

  test("runs no script with text that a caller chose", () => {
    for (const { run = "" } of steps) expect(run).not.toContain("${{");
  });

  test("leaves the stack's name to the settings", () => {
    for (const { stackName } of Object.values(environments)) {
      expect(text).not.toContain(stackName.replace(/-\w+$/, ""));
    }
  });
});

test("only jobs that deploy may ask AWS for a role; the others may read the code", () => {
  expect([ci, deploy, deployEnvironment].map(({ permissions }) => permissions)).toEqual([{ contents: "read" }, {}, {}]);
  const permissions = (workflow: typeof ci) =>
    Object.fromEntries(Object.entries(workflow.jobs).map(([name, job]) => [name, job.permissions]));
  const readsCode = { contents: "read" };
  const deploys = { contents: "read", "id-token": "write" };
  expect(permissions(ci)).toEqual({ test: undefined });
  expect(permissions(deployEnvironment)).toEqual({ deploy: deploys });
  expect(permissions(deploy)).toEqual({
    commit: readsCode,
    ci: readsCode,
    staging: deploys,
    production: deploys,
    "straight-to-production": deploys,
  });
});

describe("a deployment", () => {
  test("starts with a push to main, or by hand with at most a commit for production", () => {
    expect(deploy.on).toEqual({
      push: { branches: ["main"] },
      workflow_dispatch: {
        inputs: { "straight-to-production": { type: "string", description: expect.stringContaining("Roll back") } },
      },
    });
  });

  test("goes from the tests to staging to production", () => {
    const { ci, staging, production } = deploy.jobs;
    const commit = expression("needs.commit.outputs.sha");
    expect(ci).toMatchObject({ needs: "commit", uses: "./.github/workflows/ci.yml", with: { ref: commit } });
    const uses = "./.github/workflows/deploy-environment.yml";
    expect(staging).toMatchObject({ needs: ["commit", "ci"], uses });
    expect(staging?.with).toEqual({ environment: "staging", commit });
    expect(production).toMatchObject({ needs: ["commit", "staging"], uses });
    expect(production?.with).toEqual({ environment: "production", commit });
    // A job without a condition is skipped when one it needs is.
    expect([ci, staging, production].map((job) => job?.if)).toEqual([
      expression("!inputs.straight-to-production"),
      undefined,
      undefined,
    ]);
  });

  test("straight to production skips tests, staging and canary, but not the check of its commit", () => {
    expect(deploy.jobs["straight-to-production"]).toEqual({
      needs: "commit",
      if: expression("inputs.straight-to-production"),
      uses: "./.github/workflows/deploy-environment.yml",
      permissions: { contents: "read", "id-token": "write" },
      with: { environment: "production", commit: expression("needs.commit.outputs.sha"), canary: false },
    });
  });

  test("waits for others in the same environment only, and is never cut off", () => {
    for (const workflow of [ci, deploy, deployEnvironment]) expect(workflow.concurrency).toBeUndefined();
    for (const job of Object.values(deploy.jobs)) expect(job.concurrency).toBeUndefined();
    expect(deployJob.concurrency).toEqual({
      group: `deploy-${expression("inputs.environment")}`,
      "cancel-in-progress": false,
    });
  });

  test("runs in the GitHub environment, which holds the role and the reviewers", () => {
    expect(deployJob.environment).toBe(expression("inputs.environment"));
    expect(deployJob.steps?.map(({ with: options }) => options?.["role-to-assume"]).filter(Boolean)).toEqual([
      expression("vars.AWS_ROLE_ARN"),
    ]);
  });

  test("is smoke-tested at its end", () => {
    expect(deployJob.steps?.map(({ name, uses, run }) => name ?? uses?.replace(/@.*/, "") ?? run)).toEqual([
      "actions/checkout",
      "npm ci",
      "aws-actions/configure-aws-credentials",
      "Deploy",
      "Smoke test",
    ]);
    expect(deployJob.steps?.[0]?.with).toMatchObject({ ref: expression("inputs.commit") });
  });
});
