import { expect, test } from "vitest";
import { expression, readWorkflow, stepNamed } from "../helpers/workflows.ts";

const { workflow: ci } = await readWorkflow("ci.yml");
const { workflow: deploy } = await readWorkflow("deploy.yml");
const { workflow: deployEnvironment } = await readWorkflow("deploy-environment.yml");
const { build, changes, commit, production, staging, "straight-to-production": straight } = deploy.jobs;
const deployJob = deployEnvironment.jobs["deploy"] ?? {};
const commitToDeploy = expression("needs.commit.outputs.sha");
const assembly = expression("needs.build.outputs.assembly");

test("a deployment starts with a push to main, or by hand with at most a commit for production", () => {
  expect(deploy.on).toEqual({
    push: { branches: ["main"] },
    workflow_dispatch: {
      inputs: { "straight-to-production": { type: "string", description: expect.stringContaining("Roll back") } },
    },
  });
});

test("a deployment goes from the build and the tests to staging to production", () => {
  const { ci } = deploy.jobs;
  expect(ci).toMatchObject({ needs: "commit", uses: "./.github/workflows/ci.yml", with: { ref: commitToDeploy } });
  expect(build?.needs).toBe("commit");
  expect(changes?.needs).toEqual(["commit", "build"]);
  const uses = "./.github/workflows/deploy-environment.yml";
  expect(staging).toMatchObject({ needs: ["commit", "build", "ci"], uses });
  expect(staging?.with).toEqual({ environment: "staging", commit: commitToDeploy, assembly });
  // The summary says what would change before anyone is asked to approve.
  expect(production).toMatchObject({ needs: ["commit", "build", "changes", "staging"], uses });
  expect(production?.with).toEqual({ environment: "production", commit: commitToDeploy, assembly });
  // A job without a condition is skipped when one it needs is.
  expect([commit, build, changes, ci, staging, production].map((job) => job?.if)).toEqual([
    undefined,
    undefined,
    undefined,
    expression("!inputs.straight-to-production"),
    undefined,
    undefined,
  ]);
});

test("a deployment straight to production skips tests, staging and canary, but not the check of its commit", () => {
  expect(straight).toEqual({
    needs: ["commit", "build"],
    if: expression("inputs.straight-to-production"),
    uses: "./.github/workflows/deploy-environment.yml",
    permissions: { actions: "read", contents: "read", "id-token": "write" },
    with: {
      environment: "production",
      commit: commitToDeploy,
      assembly,
      "only-attempt": expression("needs.build.outputs.attempt"),
    },
  });
  expect(stepNamed(build ?? {}, "Build").env).toEqual({ CANARY: expression("!inputs.straight-to-production") });
});

test("a deployment without the canary is built anew by every attempt", () => {
  expect(build?.outputs?.["attempt"]).toBe(expression("github.run_attempt"));
  const [reject] = deployJob.steps ?? [];
  expect(reject?.name).toMatch(/^Reject/);
  expect(reject?.if).toBe(expression("inputs.only-attempt && inputs.only-attempt != github.run_attempt"));
});

test("a deployment deploys the one build of its commit, which outlasts the longest wait for approval", () => {
  const builds = Object.entries(deploy.jobs).filter(([, { steps = [] }]) =>
    steps.some(({ run }) => /synth/.test(run ?? "")),
  );
  expect(builds.map(([name]) => name)).toEqual(["build"]);
  expect(deployJob.steps?.filter(({ run }) => /synth/.test(run ?? ""))).toEqual([]);
  const upload = build?.steps?.at(-1);
  expect(build?.outputs?.["assembly"]).toBe(expression(`steps.${upload?.id}.outputs.artifact-id`));
  expect(upload?.with).toEqual({
    name: `assembly-${expression("github.run_attempt")}`,
    path: "cdk.out",
    "if-no-files-found": "error",
    // GitHub lets a job wait 30 days for its reviewers.
    "retention-days": 90,
  });
  for (const [job, id] of [
    [changes, assembly],
    [deployJob, expression("inputs.assembly")],
  ] as const) {
    expect(job?.steps?.find(({ uses }) => uses?.startsWith("actions/download-artifact@"))?.with).toEqual({
      "artifact-ids": id,
      path: "cdk.out",
      // By GitHub's public API, which has the artifacts of earlier attempts, too.
      "github-token": expression("github.token"),
      "run-id": expression("github.run_id"),
    });
  }
});

test("a deployment builds, tests and installs nothing of its own where it may ask AWS for a role", () => {
  const withRole = Object.values({ ...ci.jobs, ...deploy.jobs, ...deployEnvironment.jobs }).filter(
    ({ permissions, uses }) => permissions?.["id-token"] && !uses,
  );
  expect(withRole).toEqual([deployJob]);
  const scripts = (deployJob.steps ?? []).map(({ run = "" }) => run).join("\n");
  expect([...scripts.matchAll(/\bnp[mx] [^"]*?(?=$|"| --? |\n)/g)].map(([command]) => command.trim())).toEqual([
    "npm ci --ignore-scripts",
    "npm run deploy",
    "npm run --silent admin",
    "npm run smoke",
  ]);
});

test("a deployment is told its environment, its commit and its build", () => {
  const required = { type: "string", required: true };
  expect(deployEnvironment.on).toEqual({
    workflow_call: {
      inputs: {
        environment: required,
        commit: expect.objectContaining(required),
        assembly: expect.objectContaining(required),
        "only-attempt": { type: "string", description: expect.any(String) },
      },
    },
  });
});

test("a deployment checks out the commit that was built", () => {
  expect([build, changes].map((job) => job?.steps?.[0]?.with)).toEqual(
    Array(2).fill({ ref: commitToDeploy, "persist-credentials": false }),
  );
  expect(deployJob.steps?.[1]?.with).toEqual({ ref: expression("inputs.commit"), "persist-credentials": false });
});

test("a deployment waits for others in the same environment only, and is never cut off", () => {
  for (const workflow of [ci, deploy, deployEnvironment]) expect(workflow.concurrency).toBeUndefined();
  for (const job of Object.values(deploy.jobs)) expect(job.concurrency).toBeUndefined();
  expect(deployJob.concurrency).toEqual({
    group: `deploy-${expression("inputs.environment")}`,
    "cancel-in-progress": false,
  });
});

test("a deployment runs in the GitHub environment, which holds the role, the region and the reviewers", () => {
  expect(deployJob.environment).toBe(expression("inputs.environment"));
  const credentials = deployJob.steps?.find(({ uses }) => uses?.startsWith("aws-actions/"));
  expect(credentials?.with).toEqual({
    "role-to-assume": expression("vars.AWS_ROLE_ARN"),
    "aws-region": expression("vars.AWS_REGION"),
  });
});

test("a deployment leaves its template for the next one to be compared with, whatever the smoke test says", () => {
  expect(deployJob.steps?.at(-1)).toEqual({
    uses: expect.stringMatching(/^actions\/upload-artifact@/),
    if: expression("!cancelled() && steps.deploy.outcome == 'success'"),
    with: {
      name: `deployed-${expression("inputs.environment")}`,
      path: `cdk.out/*-${expression("inputs.environment")}.template.json`,
      "if-no-files-found": "error",
      "retention-days": 90,
      overwrite: true,
    },
  });
  expect(deployJob.steps?.find(({ id }) => id === "deploy")?.name).toBe("Deploy");
});
