import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { expression, readWorkflow, type Step, stepTitle, workflowNames } from "../helpers/workflows.ts";

const { workflow: ci } = await readWorkflow("ci.yml");
const { workflow: deploy } = await readWorkflow("deploy.yml");
const { workflow: deployEnvironment } = await readWorkflow("deploy-environment.yml");
const { workflow: rehearse } = await readWorkflow("rehearse.yml");

test("these are all workflows", () => {
  expect(readdirSync(new URL("../../.github/workflows/", import.meta.url)).sort()).toEqual([...workflowNames].sort());
});

test("every workflow uses the same commit of an action", async () => {
  const texts = await Promise.all(workflowNames.map(async (name) => (await readWorkflow(name)).text));
  const uses = new Set(texts.flatMap((text) => text.match(/(?<=uses: )(?!\.\/).*/g) ?? []));
  const names = [...uses].map((action) => action.replace(/@.*/, ""));
  expect(names.toSorted()).toEqual([...new Set(names)].sort());
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

  test("goes on after no failure", () => {
    // Another shell might not stop at the first command that fails.
    expect(text).not.toMatch(/continue-on-error|always\(\)|\|\| true|shell:|defaults:/);
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

test("only jobs that deploy may ask AWS for a role; the others may read", () => {
  expect([ci, rehearse, deploy, deployEnvironment].map(({ permissions }) => permissions)).toEqual([
    { contents: "read" },
    { contents: "read" },
    {},
    {},
  ]);
  const permissions = (workflow: typeof ci) =>
    Object.fromEntries(Object.entries(workflow.jobs).map(([name, job]) => [name, job.permissions]));
  const readsCode = { contents: "read" };
  const readsArtifacts = { actions: "read", contents: "read" };
  const deploys = { ...readsArtifacts, "id-token": "write" };
  expect(permissions(ci)).toEqual({ test: undefined, "other-machines": undefined });
  expect(permissions(rehearse)).toEqual({ rehearse: undefined });
  expect(permissions(deployEnvironment)).toEqual({ deploy: deploys });
  expect(permissions(deploy)).toEqual({
    commit: readsCode,
    build: readsCode,
    ci: readsCode,
    changes: readsArtifacts,
    staging: deploys,
    production: deploys,
    "straight-to-production": deploys,
  });
});

test("the README's two commands run on every machine it names, but no deployment waits for the others", () => {
  const { test, "other-machines": others } = ci.jobs;
  expect(test?.["runs-on"]).toBe("ubuntu-24.04");
  expect(others).toMatchObject({
    if: expression("!inputs.ref"),
    "runs-on": expression("matrix.machine"),
    strategy: { "fail-fast": false, matrix: { machine: ["ubuntu-24.04-arm", "macos-15"] } },
  });
});

test("jobs take these steps, and no longer than this", () => {
  const jobs = Object.entries({ ...ci.jobs, ...deploy.jobs, ...deployEnvironment.jobs, ...rehearse.jobs }).filter(
    ([, { uses }]) => !uses,
  );
  expect(
    Object.fromEntries(
      jobs.map(([name, job]) => [name, [job["timeout-minutes"], ...(job.steps ?? []).map(stepTitle)]]),
    ),
  ).toEqual({
    test: [30, "actions/checkout", "npm ci", "npm run check", "npm test", "npm run synth"],
    "other-machines": [
      30,
      "actions/checkout",
      "npm ci",
      "npx playwright-core install --with-deps chromium",
      "npm test",
    ],
    commit: [5, "actions/checkout", "Accept only a commit that main contains"],
    build: [15, "actions/checkout", "npm ci", "Build", "actions/upload-artifact"],
    changes: [
      10,
      "actions/checkout",
      "npm ci",
      "actions/download-artifact",
      "Fetch the template that production got last",
      "Say what production would change",
    ],
    deploy: [
      60,
      "Reject the assembly of an earlier attempt",
      "actions/checkout",
      "npm ci --ignore-scripts",
      "actions/download-artifact",
      "aws-actions/configure-aws-credentials",
      "Deploy",
      "Smoke test",
      "actions/upload-artifact",
    ],
    rehearse: [60, "actions/checkout", "npm ci", "npm run rehearse"],
  });
  const conditional = jobs.flatMap(([name, { steps = [] }]) =>
    steps.filter((step) => step.if !== undefined).map((step) => `${name}: ${stepTitle(step)}`),
  );
  expect(conditional, "steps that may be left out").toEqual([
    "test: npm run synth",
    "deploy: Reject the assembly of an earlier attempt",
    "deploy: actions/upload-artifact",
  ]);
  for (const [name, job] of jobs.filter(([name]) => name !== "other-machines")) {
    expect([name, job["runs-on"]]).toEqual([name, "ubuntu-24.04"]);
  }
});

test("the runbook is rehearsed every week, and when someone asks for it", () => {
  expect(rehearse.on).toEqual({ schedule: [{ cron: "0 5 * * 1" }], workflow_dispatch: null });
});

test("the tests run for every pull request, and for the commit that a deployment names", () => {
  expect(ci.on).toEqual({
    pull_request: null,
    workflow_dispatch: null,
    workflow_call: { inputs: { ref: { description: "The commit to test", type: "string", required: true } } },
  });
  const [checkout, ...others] = ci.jobs["test"]?.steps ?? [];
  expect(checkout?.with).toMatchObject({ ref: expression("inputs.ref || github.sha") });
  expect(others.map((step) => step.if)).toEqual([
    undefined,
    undefined,
    undefined,
    expression("github.event_name == 'pull_request'"),
  ]);
});
