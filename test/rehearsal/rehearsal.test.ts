import { expect, test } from "vitest";
import { findCommands, life, runbook } from "./steps.ts";

test("the rehearsal knows every block of the runbook", () => {
  expect(findCommands(runbook, life).size).toBeGreaterThan(30);
});

test.each(["   ```bash\n   aws new\n   ```", "```\naws new\n```"])(
  "the rehearsal fails when it neither runs nor lists a block of the runbook: %j",
  (block) => {
    expect(() => findCommands(`${runbook}\n${block}\n`, life)).toThrow(
      "When an alarm goes off: neither run nor listed: aws new",
    );
  },
);
