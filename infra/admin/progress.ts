import { clearLine, cursorTo } from "node:readline";
import { grouped } from "../terminal/counted.ts";

/** Before that, a rate says little: the first calls are slow, because they open connections. */
const steadyAfterSeconds = 3;
const redrawAfterMilliseconds = 100;

/** The line that says how far a command is. */
export type Progress = ReturnType<typeof startProgress>;

/**
 * Starts a line on standard error that says how far a command is, how fast, and for how long. It is
 * drawn only on a terminal, and erased when it stops, so that other output may follow.
 *
 * @param unit a plural, like `orders`.
 * @param total the number of them, 0 if unknown.
 */
export function startProgress(title: string, unit: string, total: number) {
  const { stderr, stdout } = process;
  const begun = performance.now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  const erase = (): void => {
    if (!stderr.isTTY) return;
    cursorTo(stderr, 0);
    clearLine(stderr, 0);
  };
  const draw = (done: number): void => {
    const seconds = (performance.now() - begun) / 1000;
    erase();
    stderr.write(`${title} ${progressText(unit, total, done, seconds)}`.slice(0, stderr.columns));
  };
  return {
    update(done: number): void {
      const now = performance.now();
      if (!stderr.isTTY || now - drawnAt < redrawAfterMilliseconds) return;
      drawnAt = now;
      draw(done);
    },
    /** Prints a line of the result on standard output, above this one. */
    print(line: string): void {
      erase();
      stdout.write(`${line}\n`);
    },
    stop: erase,
  };
}

function progressText(unit: string, total: number, done: number, seconds: number): string {
  const rate = done / Math.max(seconds, 0.001);
  const speed = unit === "bytes" ? megabytes.format(rate / 1e6) : `${grouped(rate)} ${unit}/s`;
  if (total === 0) return `${grouped(done)} ${unit}, ${speed}`;
  // There may be more than were counted.
  const share = `${Math.min(100, Math.floor((100 * done) / total))}%, ${speed}`;
  if (seconds < steadyAfterSeconds || done === 0) return share;
  return `${share}, ${timeText(Math.max(total - done, 0) / rate)} left`;
}

const megabytes = new Intl.NumberFormat("en-US", {
  style: "unit",
  unit: "megabyte-per-second",
  maximumFractionDigits: 1,
});

function timeText(seconds: number): string {
  return seconds < 100 ? `${Math.ceil(seconds)} s` : `${grouped(Math.ceil(seconds / 60))} min`;
}
