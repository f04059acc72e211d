import { PassThrough } from "node:stream";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { startProgress } from "../../infra/admin/progress.ts";

beforeEach(() => {
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

/** The text on a terminal of so many columns after so many seconds and so many of 400 orders. */
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

test("the progress line fits into 60 columns", () => {
  expect(shown(60, 10, 100)).toMatch(/Writing 25% \[=+-+\] 10 orders\/s, 30s left/);
});

test("the progress line shows no time left in the first three seconds", () => {
  const line = shown(100, 2, 40);
  expect(line).toMatch(/Writing 10% \[=+-+\] \d+ orders\/s/);
  expect(line).not.toContain("left");
});

test("the progress line says 100% and 0s left once it is past its total", () => {
  expect(shown(100, 10, 500)).toMatch(/Writing 100% \[={24}\] 49 orders\/s, 0s left/);
});

test("the progress line changes no mode of the terminal", () => {
  // A killed command could not show the cursor again, or wrap long lines again.
  expect(shown(20, 10, 100)).not.toContain("\u001b[?");
});
