import { describe, expect, test } from "vitest";
import { expression, readWorkflow, type Step, workflowNames } from "../helpers/workflows.ts";

const { workflow: ci } = await readWorkflow("ci.yml");
const { workflow: deploy } = await readWorkflow("deploy.yml");
const { workflow: deployEnvironment } = await readWorkflow("deploy-environment.yml");
const deployJob = deployEnvironment.jobs["deploy"];

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

  test("runs no script with text that a caller chose, and goes on after no failure", () => {
    for (const { run = "" } of steps) expect(run).not.toContain("${{");
    // Another shell might not stop at the first command that fails.
    expect(text).not.toMatch(/continue-on-error|always\(\)|\|\| true|shell:|defaults:/);
  });
});

test("only jobs that deploy may ask AWS for a role, no job may write, and main alone deploys", () => {
  const jobs = Object.entries({ ...ci.jobs, ...deploy.jobs, ...deployEnvironment.jobs });
  const withRole = jobs.filter(([, { permissions }]) => permissions?.["id-token"]).map(([name]) => name);
  expect(withRole).toEqual(["staging", "production", "straight-to-production", "deploy"]);
  for (const [, { permissions: { "id-token": _, ...others } = {} }] of jobs) {
    for (const access of Object.values(others)) expect(access).toBe("read");
  }
  expect([ci.permissions, deploy.permissions, deployEnvironment.permissions]).toEqual([{ contents: "read" }, {}, {}]);
  expect(deploy.on["push"]).toEqual({ branches: ["main"] });
  expect(Object.keys(deploy.on)).toEqual(["push", "workflow_dispatch"]);
  // GitHub's environment decides who approves, and which role AWS gives.
  expect(deployJob?.environment).toBe(expression("inputs.environment"));
});

test("where a role can be asked for, nothing is built or tested, and no package runs a script of its own", () => {
  const scripts = (deployJob?.steps ?? []).map(({ run = "" }) => run).join("\n");
  expect(scripts).not.toMatch(/synth|npm test|npx/);
  for (const [install] of scripts.matchAll(/npm (?:ci|install).*/g)) expect(install).toContain("--ignore-scripts");
});

test("production waits for build, summary, tests and staging; a rollback for the build alone", () => {
  const { staging, production, "straight-to-production": straight } = deploy.jobs;
  expect(staging?.needs).toEqual(["commit", "build", "ci"]);
  expect(production?.needs).toEqual(["commit", "build", "changes", "staging"]);
  expect(straight).toMatchObject({ needs: ["commit", "build"], if: expression("inputs.straight-to-production") });
  expect(deploy.jobs["ci"]?.if).toBe(expression("!inputs.straight-to-production"));
  // A job without a condition of its own is skipped where one that it needs is.
  expect([staging?.if, production?.if]).toEqual([undefined, undefined]);
});

test("one run at a time deploys to an environment, is never cut off, and its role lasts as long as it may", () => {
  expect(deployJob?.concurrency).toEqual({
    group: `deploy-${expression("inputs.environment")}`,
    "cancel-in-progress": false,
  });
  const minutes = deployJob?.["timeout-minutes"] ?? 0;
  // A new domain takes up to an hour, the canary ten minutes.
  expect(minutes).toBeGreaterThan(70);
  const credentials = deployJob?.steps?.find(({ uses }) => uses?.startsWith("aws-actions/"))?.with;
  expect(credentials?.["role-duration-seconds"]).toBe(minutes * 60);
});

test("a deployment uses today's tools, and the smoke test of the commit it deploys", () => {
  const checkouts = deployJob?.steps?.filter(({ uses }) => uses?.startsWith("actions/checkout@")) ?? [];
  expect(checkouts.map(({ with: { ref, path } = {} }) => [path ?? ".", ref])).toEqual([
    [".", expression("github.sha")],
    ["commit", expression("inputs.commit")],
  ]);
});
