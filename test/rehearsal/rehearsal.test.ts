import { expect, test } from "vitest";
import { findCommands, life, runbook } from "./steps.ts";

test("the rehearsal runs or lists every block of the runbook", () => {
  expect(findCommands(runbook, life).size).toBeGreaterThan(30);
});
