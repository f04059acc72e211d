import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { startProgress } from "../../infra/admin/progress.ts";

function start(columns = 100) {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true, columns });
  return { stream, progress: startProgress(stream, { title: "Writing", unit: "orders", total: 400 }) };
}

test("a terminal shows no time left when there is more to do than was known", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { stream, progress } = start();
  vi.advanceTimersByTime(10_000);
  progress.done(500);
  vi.advanceTimersByTime(200);
  expect(stream.read()).toMatch(/Writing 100% \[={24}\] 50 orders\/s, 0s left/);
  progress.stop();
});

test("a narrow terminal shows as much as leaves its last column free", () => {
  const { stream, progress } = start(20);
  progress.done(100);
  progress.stop();
  const text = String(stream.read());
  expect(text).toContain("Writing 25% [======\u001b");
  expect(text).not.toContain("[=======");
  // It hides neither the cursor nor the end of a long line, so nothing is left to restore if it is killed.
  expect(text).not.toContain("\u001b[?");
});
