import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findCommands, life, runbook } from "./steps.ts";

const pipeline = readFileSync("infra/PIPELINE.md", "utf8");

test("the rehearsal runs or lists every block of the runbook", () => {
  expect(findCommands(runbook, life).size).toBeGreaterThan(30);
});

test("a rollback by hand builds without the canary, deploys with main's tools, and ends when a step fails", () => {
  const [block] = /^ROLLBACK=.*?(?=^```)/ms.exec(runbook) ?? [];
  const fakes = `fails=; mktemp() { echo .; }
    call() { echo $*; [ "$1 $2" != "$fails" ]; }
    for name in git npm infra; do eval "$name() { call $name \\$*; }"; done`;
  const runs = ["", "git merge-base", "npm ci"].map(
    (step) => `fails='${step}'; ${block}`,
  );
  const script = [fakes, ...runs].join("\n").replaceAll("infra/petstore", "infra");
  const { stdout } = spawnSync("bash", ["-c", script], { cwd: "/", encoding: "utf8" });
  const [found, prepared, built] = [
    "git fetch\ngit merge-base --is-ancestor COMMIT origin/main\n",
    `git worktree add --detach . COMMIT
git checkout origin/main -- infra/environments.ts infra/own.ts
npm ci\n`,
    `infra synth -c canary=false
git checkout --force origin/main
npm ci
infra deploy production --app cdk.out\n`,
  ];
  const whole = `${found}${prepared}${built}`;
  expect(stdout).toBe(`${whole}${found}main has no COMMIT\n${found}${prepared}`);
});

test("the pipeline's page protects every environment, and production by reviewers", () => {
  const [block] = /^for environment.*?(?=^```)/ms.exec(pipeline) ?? [];
  const gh = "gh() { echo; printf '%s ' \"$*\"; [ $3 != PUT ] || tr -d ' \\n'; }";
  const { stdout } = spawnSync("bash", ["-c", `${gh}\n${block}`], { encoding: "utf8" });
  const branches = '"protected_branches":false,"custom_branch_policies":true';
  const protection = `"can_admins_bypass":false,"deployment_branch_policy":{${branches}}`;
  const reviewed =
    '"reviewers":[{"type":"Team","id":TEAM_ID}],"prevent_self_review":true,';
  const names = ["staging", "production", "drift-staging", "drift-production"];
  const calls = names.flatMap((name) => {
    const rules = `${name === "production" ? reviewed : ""}${protection}`;
    const path = `repos/OWNER/REPO/environments/${name}`;
    return [
      `api -X PUT ${path} --input - {${rules}}`,
      `api -X POST ${path}/deployment-branch-policies -f name=main `,
      `variable set AWS_REGION --env ${name} --body REGION `,
    ];
  });
  expect(stdout.split("\n")).toEqual(expect.arrayContaining(calls));
});
