import { PassThrough } from "node:stream";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { startProgress } from "../../infra/admin/progress.ts";

beforeEach(() => {
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

/** The text on a terminal of so many columns once so many of 400 orders are written. */
function shown(columns: number, seconds: number, orders: number): string {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true, columns });
  const stderr = vi.spyOn(process, "stderr", "get").mockReturnValue(stream as never);
  onTestFinished(() => stderr.mockRestore());
  const progress = startProgress("Writing", "orders", 400);
  vi.advanceTimersByTime(seconds * 1000);
  progress.update(orders);
  vi.advanceTimersByTime(200);
  const text = String(stream.read());
  progress.stop();
  return text;
}

test("a terminal of 60 columns shows the whole line", () => {
  expect(shown(60, 10, 100)).toMatch(/Writing 25% \[=+-+\] 10 orders\/s, 30s left/);
});

test("nothing is estimated in the first seconds", () => {
  expect(shown(100, 1, 1)).not.toContain("left");
});

test("no time is left when there is more to do than was known", () => {
  expect(shown(100, 10, 500)).toMatch(/Writing 100% \[={24}\] 49 orders\/s, 0s left/);
});

test("the terminal has nothing to restore if the command is killed", () => {
  // Neither the cursor nor the end of a long line is hidden.
  expect(shown(20, 10, 100)).not.toContain("\u001b[?");
});
