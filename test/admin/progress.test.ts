import { PassThrough } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { startProgress } from "../../infra/admin/progress.ts";
import { clearedLine } from "../helpers/admin/orders-file.ts";

function start(isTTY: boolean, { columns = 100, total = 400 } = {}) {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns });
  return { stream, progress: startProgress(stream, { title: "Writing", unit: "orders", total }) };
}

/** The output of a bar that ends a quarter done. */
function draw(isTTY: boolean, options = {}): string {
  const { stream, progress } = start(isTTY, options);
  progress.done(100);
  progress.stop();
  return String(stream.read() ?? "");
}

test("a terminal shows it from the start, and is clear at the end", () => {
  const { stream, progress } = start(true);
  expect(stream.read()).toMatch(/Writing 0% \[-{24}\] 0 orders\/s, \? left/);
  progress.stop();
  expect(String(stream.read()).split(clearedLine).at(-1)).toBe("");
});

test("anything else shows nothing", () => {
  expect(draw(false)).toBe("");
});

test("a terminal shows no time left when there is more to do than was known", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { stream, progress } = start(true);
  vi.advanceTimersByTime(10_000);
  progress.done(500);
  vi.advanceTimersByTime(200);
  expect(stream.read()).toMatch(/Writing 100% \[={24}\] 50 orders\/s, 0s left/);
  progress.stop();
});

test("a narrow terminal shows as much as leaves its last column free", () => {
  const text = draw(true, { columns: 20 });
  expect(text).toContain("Writing 25% [======\u001b");
  expect(text).not.toContain("[=======");
});

test("without a total it shows how much is done, and how fast", () => {
  expect(draw(true, { total: 0 })).toMatch(/Writing 100 orders \d+ orders\/s, \? left/);
});

test("it hides neither the cursor nor the end of a long line, so that nothing is left to restore", () => {
  expect(draw(true)).not.toContain("\u001b[?");
});
