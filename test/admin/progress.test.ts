import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { startProgress } from "../../infra/admin/progress.ts";

/** Draws a bar that ends a quarter done. */
function draw(isTTY: boolean): string {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 100 });
  const progress = startProgress(stream, { title: "Writing", unit: "orders", total: 400 });
  progress.done(100);
  progress.stop();
  return String(stream.read() ?? "");
}

test("on a terminal a bar shows how far it is, how fast it goes and how long it may take", () => {
  expect(draw(true)).toMatch(/Writing \[=+-+\] 25% \| \d+ orders\/s \| \d+ s left/);
});

test("anywhere else it draws nothing", () => {
  expect(draw(false)).toBe("");
});
