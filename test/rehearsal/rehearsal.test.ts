import { expect, test } from "vitest";
import { findCommands, life, runbook } from "./steps.ts";

test("the rehearsal knows every block of the runbook, and fails for one that is added", () => {
  expect(findCommands(runbook, life).size).toBeGreaterThan(30);
  for (const block of [
    "```sh\naws new\n```",
    "   ```bash\n   aws new\n   ```",
    "```\naws new\n```",
  ]) {
    expect(() => findCommands(`${runbook}\n${block}\n`, life)).toThrow(
      "When an alarm goes off: neither run nor listed: aws new",
    );
  }
});
