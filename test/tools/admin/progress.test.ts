import { PassThrough } from "node:stream";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { printLine, startProgress } from "../../../infra/tools/admin/progress.ts";

const erased = "\u001b[1G\u001b[2K";

beforeEach(() => void vi.useFakeTimers());

function terminal(columns = 80) {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), {
    isTTY: true,
    columns,
  });
  for (const name of ["stdout", "stderr"] as const)
    vi.spyOn(process, name, "get").mockReturnValue(stream as never);
  onTestFinished(() => void vi.restoreAllMocks());
  return stream;
}

const lines = `
  100 of 1090 orders after 10 s: Writing 9%, 10 orders/s, 99 s left
  100000 of 4000000 orders after 10 s: Writing 2%, 10,000 orders/s, 7 min left
  40 of 400 orders after 2 s: Writing 10%, 20 orders/s
  0 of 400 orders after 10 s: Writing 0%, 0 orders/s
  5000000 of 0 orders after 10 s: Writing 5,000,000 orders, 500,000 orders/s
  1000.1234 of 0 MB after 10 s: Writing 1,000 MB, 100 MB/s
  16 of 176 MB after 10 s: Writing 9%, 1.6 MB/s, 2 min left`;
test.each(lines.trim().split(/\n +/))("a line shows %s", (row) => {
  const [progressed = "", line] = row.split(": ");
  const [done, , total, unit = "", , seconds] = progressed.split(" ");
  const stream = terminal();
  const progress = startProgress("Writing", unit, Number(total));
  vi.advanceTimersByTime(Number(seconds) * 1000);
  progress.update(Number(done));
  expect(stream.read()).toBe(`${erased}${line}`);
});

test("a progress line is cut where the terminal ends, and drawn ten times a second", () => {
  const stream = terminal(12);
  const progress = startProgress("Writing", "orders", 0);
  for (let done = 0; done < 1000; done++) {
    progress.update(done);
    vi.advanceTimersByTime(1);
  }
  const lines = String(stream.read()).split(erased).slice(1);
  expect(lines).toHaveLength(10);
  expect(lines[5]).toBe("Writing 500 ");
  printLine("Order 7");
  progress.stop();
  expect(stream.read()).toBe(`${erased}Order 7\n${erased}`);
});
