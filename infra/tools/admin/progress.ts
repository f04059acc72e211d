import { clearLine, cursorTo } from "node:readline";
import { grouped } from "../terminal/text.ts";

/** Until then, no time left is shown: the first calls are slow, because they open connections. */
const steadyAfterSeconds = 3;
const redrawAfterMilliseconds = 100;

/**
 * Starts a line on standard error that shows how far a command is, how fast, and how long it still
 * takes. It is drawn only on a terminal, and erased when it stops, so that other output may follow.
 *
 * @param unit a plural, like `orders`.
 * @param total the number of them, 0 if unknown.
 * @param isPrinted whether the command prints its results on standard output. On a terminal they
 * would scroll through the line, so it isn't drawn.
 */
export function startProgress(
  title: string,
  unit: string,
  total: number,
  isPrinted = false,
) {
  const isShown = process.stderr.isTTY && !(isPrinted && process.stdout.isTTY);
  const begun = performance.now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    update(done: number) {
      const now = performance.now();
      if (!isShown || now - drawnAt < redrawAfterMilliseconds) return;
      drawnAt = now;
      const line = `${title} ${progressText(unit, total, done, (now - begun) / 1000)}`;
      erase();
      process.stderr.write(line.slice(0, process.stderr.columns));
    },
    stop: erase,
  };
}

/** Prints a line in the place of the progress line, which is drawn again below it. */
export function printLine(line: string, stream: NodeJS.WriteStream = process.stdout) {
  erase();
  stream.write(`${line}\n`);
}

function erase() {
  if (!process.stderr.isTTY) return;
  cursorTo(process.stderr, 0);
  clearLine(process.stderr, 0);
}

function progressText(unit: string, total: number, done: number, seconds: number) {
  const rate = done / Math.max(seconds, 0.001);
  // Like 1.6 or 12,000: more digits would only flicker.
  const digits = { maximumSignificantDigits: 2 };
  const speed = `${rate.toLocaleString("en-US", digits)} ${unit}/s`;
  if (total === 0) return `${grouped(Math.floor(done))} ${unit}, ${speed}`;
  const share = `${Math.floor((100 * done) / total)}%, ${speed}`;
  if (seconds < steadyAfterSeconds || done === 0) return share;
  const left = Math.ceil((total - done) / rate);
  return `${share}, ${left < 100 ? `${left} s` : `${grouped(Math.ceil(left / 60))} min`} left`;
}
