import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { startProgress } from "../../infra/admin/progress.ts";

function start(isTTY: boolean) {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 100 });
  return { stream, progress: startProgress(stream, { title: "Writing", unit: "orders", total: 400 }) };
}

/** The output of a bar that ends a quarter done. */
function draw(isTTY: boolean): string {
  const { stream, progress } = start(isTTY);
  progress.done(100);
  progress.stop();
  return String(stream.read() ?? "");
}

test("a terminal shows the share done, the rate and the time left", () => {
  expect(draw(true)).toMatch(/Writing \[=+-+\] 25% \| \d+ orders\/s \| \d+ s left/);
});

test("anything else shows nothing", () => {
  expect(draw(false)).toBe("");
});

test("a terminal shows it while the work goes on", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { stream, progress } = start(true);
  vi.advanceTimersByTime(5_000);
  progress.done(100);
  vi.advanceTimersByTime(200);
  expect(stream.read()).toMatch(/Writing \[=+-+\] 25% \| 20 orders\/s \| 15 s left/);
  progress.stop();
});
