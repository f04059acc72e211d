import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { findCommands, life, runbook } from "./steps.ts";

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
