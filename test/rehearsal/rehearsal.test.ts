import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { findCommands, life, runbook } from "./steps.ts";

test("the rehearsal runs or lists every block of the runbook", () => {
  expect(findCommands(runbook, life).size).toBeGreaterThan(30);
});

test("a rollback by hand ends when a step fails, such as the installation", () => {
  const [block] = /^ROLLBACK=.*?(?=^```)/ms.exec(runbook) ?? [];
  const fakes =
    "git() { echo $*; }; mktemp() { echo .; }; npm() { echo npm $*; return 1; };";
  const shell = { cwd: "/", encoding: "utf8" } as const;
  const { stdout } = spawnSync("bash", ["-c", `${fakes} ${block}`], shell);
  expect(stdout).toMatch(/infra\/own\.ts\nnpm ci\n$/);
});
