import { expect, test } from "vitest";
import { forTerminal } from "../../infra/local/terminal-log.ts";

test("a rejected key is one line on a terminal, not a stack trace", () => {
  const line =
    '{"level":"ERROR","message":{"errorType":"Error","errorMessage":"Unauthorized","stackTrace":[]}}';
  expect(forTerminal(line)).toBe("Rejected a key that is unknown, expired or revoked: 401");
});

test("every other line is shown as the function wrote it", () => {
  const line = '{"level":"ERROR","message":{"event":"authorize_failed"}}';
  expect(forTerminal(line)).toBe(line);
});
