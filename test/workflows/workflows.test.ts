import { globSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
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
const allJobs = workflows.flatMap(({ name, jobs }) =>
  Object.entries<Job>(jobs).map(([job, { steps = [], ...rest }]) => ({
    name,
    job,
    steps,
    ...rest,
  })),
);
const deploy = await readWorkflow("deploy.yml");
const { build, commit, production, staging } = deploy.jobs;
const deployJob: { steps: Step[] } & Record<string, unknown> = (
  await readWorkflow("deploy-environment.yml")
).jobs.deploy;

/** Finds a step of a job by its name or by the action it uses. */
function find({ steps }: { steps: Step[] }, wanted: string) {
  const index = steps.findIndex(({ name, uses }) => name === wanted || uses?.startsWith(wanted));
  const step = steps[index];
  if (!step) throw new Error(`The job has no step ${wanted}`);
  return { index, step };
}

test.each(workflows)(
  "the workflow $name pins each action, keeps no credentials, writes nothing, stops at failures",
  ({ text, permissions }) => {
    for (const [, action] of text.matchAll(/uses: (?!\.\/)(.*)/g))
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(permissions).toBeDefined();
    expect(text).not.toMatch(/secrets|aws-access-key-id|AWS_SECRET|: write(?<!id-token: write)/);
    // Another shell might not stop at the first command that fails.
    expect(text).not.toMatch(/continue-on-error|always\(\)|\|\| true|shell:|defaults:/);
  },
);

test.each(allJobs)(
  "the job $job of $name runs no text of a caller, and has a role only to deploy or find drift",
  ({ job, steps, permissions, uses }) => {
    for (const { run = "", uses, with: options } of steps) {
      expect(run).not.toContain("${{");
      if (uses?.startsWith("actions/checkout@"))
        expect(options).toMatchObject({ "persist-credentials": false });
    }
    const mayAsk = uses === "./.github/workflows/deploy-environment.yml";
    const isAsking = permissions?.["id-token"] === "write";
    expect(isAsking).toBe(mayAsk || ["deploy", "drift"].includes(job));
  },
);

const roleAction = "aws-actions/configure-aws-credentials";

test.each(allJobs.filter(({ steps }) => steps.some(({ uses }) => uses?.startsWith(roleAction))))(
  "the job $job installs all code before it has a role, and builds nothing",
  (job) => {
    const lastInstall = job.steps.findLastIndex(({ run }) => run?.startsWith("npm ci"));
    expect(lastInstall).toBeLessThan(find(job, roleAction).index);
    const scripts = job.steps.map(({ run = "" }) => run).join("\n");
    expect(scripts).not.toMatch(/synth|npm test|npx|npm ci(?! --ignore-scripts)/);
  },
);

test("only a push to main or a person starts a deployment", () => {
  expect(deploy.on).toEqual({ push: { branches: ["main"] }, workflow_dispatch: expect.anything() });
});

test("the accepted commit is tested, built once per attempt, and deployed in turn", () => {
  const accepted = expression("needs.commit.outputs.sha");
  const isRollback = "inputs.straight-to-production";
  const deployed = {
    commit: accepted,
    assembly: expression("needs.build.outputs.assembly"),
    accept: expression("inputs.accept"),
  };
  const { id, with: upload } = find(build, "actions/upload-artifact").step;
  expect(deploy.jobs).toMatchObject({
    build: { outputs: { assembly: expression(`steps.${id}.outputs.artifact-id`) } },
    ci: { if: expression(`!${isRollback}`), with: { ref: accepted } },
    staging: { needs: ["commit", "build", "ci"], with: deployed },
    // And perhaps for a third environment.
    production: { needs: expect.arrayContaining(["build", "changes", "staging"]), with: deployed },
    "straight-to-production": {
      needs: ["commit", "build"],
      if: expression(isRollback),
      // CloudFormation sets the aliases only the first time that a build without canary is deployed.
      with: { ...deployed, "only-attempt": expression("needs.build.outputs.attempt") },
    },
  });
  // A job without a condition of its own is skipped where one that it needs is.
  expect([staging.if, production.if]).toEqual([undefined, undefined]);
  const accept = find(commit, "Accept only a commit that main contains").step;
  expect(accept.env).toEqual({ COMMIT: expression(`${isRollback} || github.sha`) });
  expect(build.steps[0].with.ref).toBe(accepted);
  expect(find(build, "Take today's settings").step.if).toBe(expression("!inputs.own-settings"));
  expect(find(build, "Build").step.env).toMatchObject({ CANARY: expression(`!${isRollback}`) });
  expect(upload?.["name"]).toContain(expression("github.run_attempt"));
  expect(find(deployJob, "Reject the assembly of an earlier attempt").step.if).toBe(
    expression("inputs.only-attempt && inputs.only-attempt != github.run_attempt"),
  );
});

test("a deployment runs alone in GitHub's environment, with time for a new domain and the canary", () => {
  const environment = expression("inputs.environment");
  // The next run never cuts it off.
  const concurrency = { group: `deploy-${environment}`, "cancel-in-progress": false };
  expect(deployJob).toMatchObject({ environment, concurrency });
  const minutes = Number(deployJob["timeout-minutes"]);
  const [domain, canary] = [60, 10];
  expect(minutes).toBeGreaterThan(domain + canary);
  const role = find(deployJob, roleAction).step.with;
  expect(role).toMatchObject({ "role-duration-seconds": minutes * 60 });
});

test("a missing build is rejected before there is a role, and a template kept before a failure", () => {
  const [download, check, role, deployed, kept] = [
    "actions/download-artifact",
    "Reject a build that is not where it is deployed from",
    roleAction,
    "Deploy",
    "actions/upload-artifact",
  ].map((wanted) => find(deployJob, wanted).index);
  expect(check).toBeGreaterThan(Number(download));
  expect(check).toBeLessThan(Number(role));
  expect(kept).toBe(Number(deployed) + 1);
  // Also when the run is repeated.
  expect(deployJob.steps[Number(kept)]?.with).toMatchObject({ overwrite: true });
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
