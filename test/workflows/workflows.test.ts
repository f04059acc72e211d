import { globSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { expression, readWorkflow, runJob, type Step } from "./steps.ts";

interface Job {
  steps?: Step[];
  permissions?: Record<string, string>;
  uses?: string;
}

const workflows = await Promise.all(
  globSync(".github/workflows/*.yml").map((file) => readWorkflow(basename(file))),
);
const allJobs = workflows.flatMap(({ name, jobs }) =>
  Object.entries<Job>(jobs).map(([job, { steps = [], ...rest }]) => ({
    name,
    job,
    steps,
    ...rest,
  })),
);

const nameOf = ({ name, uses, run }: Step) => name ?? uses?.split("@")[0] ?? run;

function jobsOf(workflow: string) {
  const jobs = allJobs.filter(({ name }) => name === workflow);
  const named = jobs.map(({ job, steps, ...rest }) => {
    const entries = steps.map((step) => [nameOf(step), step]);
    return [job, { ...rest, steps: Object.fromEntries(entries) }];
  });
  return Object.fromEntries(named);
}

test.each(workflows)(
  "$name pins each action, keeps no credentials, writes nothing and stops at failures",
  ({ text, permissions }) => {
    for (const [, action] of text.matchAll(/uses: (?!\.\/)(.*)/g))
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(permissions).toBeDefined();
    expect(text).not.toMatch(
      /secrets|aws-access-key-id|AWS_SECRET|: write(?<!id-token: write)/,
    );
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

test("a deployment waits neither for CI's synthesis nor for other machines", () => {
  const ofPullRequest = { if: expression("github.event_name == 'pull_request'") };
  expect(jobsOf("CI")).toMatchObject({
    test: { steps: { "infra/petstore synth": ofPullRequest } },
    "other-machines": { if: expression("!inputs.ref") },
  });
});

const getsRole = ({ uses }: Step) => uses?.startsWith("aws-actions/configure-aws");

test.each(allJobs.filter(({ steps }) => steps.some(getsRole)))(
  "the job $job installs all code before it has a role, and builds nothing",
  ({ steps }) => {
    const lastInstall = steps.findLastIndex(({ run }) => run?.startsWith("npm ci"));
    expect(lastInstall).toBeLessThan(steps.findIndex(getsRole));
    const scripts = steps.map(({ run = "" }) => run).join("\n");
    expect(scripts).not.toMatch(/synth|npm test|npx|npm ci(?! --ignore-scripts)/);
  },
);

test("a push to main or a person has the accepted commit tested, built and deployed", async () => {
  const { on } = await readWorkflow("deploy.yml");
  expect(on).toEqual({
    push: { branches: ["main"] },
    workflow_dispatch: expect.anything(),
  });
  const jobs = jobsOf("Deploy");
  const accepted = expression("needs.commit.outputs.sha");
  const isRollback = "inputs.straight-to-production";
  const deployed = {
    commit: accepted,
    assembly: expression("needs.build.outputs.assembly"),
    accept: expression("inputs.accept"),
  };
  const upload = "actions/upload-artifact";
  const wholeHistory = { "fetch-depth": 0 };
  expect(jobs).toMatchObject({
    commit: {
      steps: {
        "actions/checkout": { with: wholeHistory },
        "Accept only a commit that main contains": {
          env: { COMMIT: expression(`${isRollback} || github.sha`) },
        },
      },
    },
    build: {
      outputs: {
        assembly: expression(
          `steps.${jobs["build"].steps[upload].id}.outputs.artifact-id`,
        ),
        attempt: expression("github.run_attempt"),
      },
      steps: {
        "actions/checkout": { with: { ref: accepted, ...wholeHistory } },
        "Take today's settings": { if: expression("!inputs.own-settings") },
        Build: { env: { CANARY: expression(`!${isRollback}`) } },
        [upload]: {
          with: {
            name: expect.stringContaining(expression("github.run_attempt")),
            // Longer than a deployment may wait for its reviewers.
            "retention-days": 90,
          },
        },
      },
    },
    ci: { if: expression(`!${isRollback}`), with: { ref: accepted } },
    staging: { needs: ["commit", "build", "ci"], with: deployed },
    // And perhaps for a third environment.
    production: {
      needs: expect.arrayContaining(["build", "changes", "staging"]),
      with: deployed,
    },
    "straight-to-production": {
      needs: ["commit", "build"],
      if: expression(isRollback),
      // CloudFormation sets the aliases only the first time that such a build is deployed.
      with: { ...deployed, "only-attempt": expression("needs.build.outputs.attempt") },
    },
  });
  // A job without a condition of its own is skipped where one that it needs is.
  expect([jobs["staging"].if, jobs["production"].if]).toEqual([undefined, undefined]);
});

const { deploy } = jobsOf("Deploy one environment");

test("a deployment runs alone, with time for a new domain and the canary", () => {
  const environment = expression("inputs.environment");
  const isEarlier = "inputs.only-attempt && inputs.only-attempt != github.run_attempt";
  const minutes = deploy["timeout-minutes"];
  expect(deploy).toMatchObject({
    // GitHub's, which has the reviewers and the role.
    environment,
    concurrency: { group: `deploy-${environment}`, "cancel-in-progress": false },
    steps: {
      "Reject the assembly of an earlier attempt": { if: expression(isEarlier) },
      "aws-actions/configure-aws-credentials": {
        with: { "role-duration-seconds": minutes * 60 },
      },
      "actions/upload-artifact": {
        with: {
          name: `deployed-${environment}`,
          // Also when the run is repeated.
          overwrite: true,
          // As long as GitHub keeps any: later runs compare with it.
          "retention-days": 90,
          "if-no-files-found": "error",
        },
      },
    },
  });
  expect(minutes).toBeGreaterThan(60 + 10);
});

test("a build is looked for before there is a role, and a template kept before a failure", () => {
  const steps = Object.keys(deploy.steps).join(", ");
  expect(steps).toMatch(
    /actions\/download-artifact,.* Reject a build that .* aws-actions\//,
  );
  expect(steps).toContain("Deploy, actions/upload-artifact, Smoke test");
});

test("today's tools deploy, and the deployed commit's smoke test follows", () => {
  const { steps = [] } = allJobs.find(({ job }) => job === "deploy") ?? {};
  const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
  expect(checkouts.map((step) => step.with)).toMatchObject([
    { ref: expression("github.sha") },
    { ref: expression("inputs.commit"), path: "commit" },
  ]);
});

test("each environment's stack is looked at for drift, with a role of its own", async () => {
  const { drift } = (await readWorkflow("drift.yml")).jobs;
  expect(drift.strategy["fail-fast"]).toBe(false);
  const names: string[] = drift.strategy.matrix.environment;
  expect(names).toEqual(expect.arrayContaining(["staging", "production"]));
  for (const name of names) {
    const text = JSON.stringify(drift);
    const job = JSON.parse(text.replaceAll(expression("matrix.environment"), name));
    const programs = { npm: "", "infra/petstore": "" };
    const { calls } = await runJob(job, { env: job.env, programs });
    expect(job.environment).toBe(`drift-${name}`);
    expect(calls.at(-1)).toBe(`infra/petstore drift ${name}`);
  }
});
