import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { startProgress } from "../../infra/admin/progress.ts";

/**
 * A bar for 400 orders on a terminal that takes the place of standard error until the test ends.
 */
function start(columns = 100) {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true, columns });
  const stderr = vi.spyOn(process, "stderr", "get").mockReturnValue(stream as never);
  onTestFinished(() => stderr.mockRestore());
  return { stream, progress: startProgress("Writing", "orders", 400) };
}

test("a terminal shows no time left when there is more to do than was known", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { stream, progress } = start();
  vi.advanceTimersByTime(10_000);
  progress.update(500);
  vi.advanceTimersByTime(200);
  expect(stream.read()).toMatch(/Writing 100% \[={24}\] 50 orders\/s, 0s left/);
  progress.stop();
});

test("a narrow terminal shows as much as fits on a line", () => {
  const { stream, progress } = start(20);
  progress.update(100);
  progress.stop();
  const text = String(stream.read());
  expect(text).toContain("Writing 25% [======-\u001b");
  // It hides neither the cursor nor the end of a long line, so nothing is left to restore if it is
  // killed.
  expect(text).not.toContain("\u001b[?");
});
