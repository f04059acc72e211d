import { PassThrough } from "node:stream";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { printLine, startProgress } from "../../../infra/tools/admin/progress.ts";

const erased = "\u001b[1G\u001b[2K";

beforeEach(() => {
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

function terminal(columns = 80) {
  const stream = Object.assign(new PassThrough({ encoding: "utf8" }), {
    isTTY: true,
    columns,
  });
  for (const name of ["stdout", "stderr"] as const) {
    const spy = vi.spyOn(process, name, "get").mockReturnValue(stream as never);
    onTestFinished(() => spy.mockRestore());
  }
  return stream;
}

test.each<[unit: string, total: number, seconds: number, done: number, line: string]>([
  ["orders", 1090, 10, 100, "Writing 9%, 10 orders/s, 99 s left"],
  ["orders", 4_000_000, 10, 100_000, "Writing 2%, 10,000 orders/s, 7 min left"],
  ["orders", 400, 2, 40, "Writing 10%, 20 orders/s"],
  ["orders", 400, 10, 0, "Writing 0%, 0 orders/s"],
  ["orders", 0, 10, 5_000_000, "Writing 5,000,000 orders, 500,000 orders/s"],
  ["MB", 0, 10, 1000.1234, "Writing 1,000 MB, 100 MB/s"],
  ["MB", 176, 10, 16, "Writing 9%, 1.6 MB/s, 2 min left"],
])("of %s, %i in all, after %i s and %i of them, a line says %s", (unit, ...numbers) => {
  const [total, seconds, done, line] = numbers;
  const stream = terminal();
  const progress = startProgress("Writing", unit, total);
  vi.advanceTimersByTime(seconds * 1000);
  progress.update(done);
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
