import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { startProgress } from "../../infra/admin/progress.ts";

/** What a bar draws that ends a quarter done. */
function draw(isTTY: boolean): string {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 100 });
  const progress = startProgress(stream, { title: "Writing", unit: "orders", total: 400 });
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
