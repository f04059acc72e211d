import { SingleBar } from "cli-progress";

/** A progress bar with the rate and the time left, drawn only on a terminal and cleared at the end. */
export interface Progress {
  /** Reports how many units are done in all. */
  done(units: number): void;
  /** Clears the bar, so that other output may follow; it does not come back. */
  stop(): void;
}

const millisecondsPerFrame = 100;
const barLength = 24;

/** Starts a progress bar on `stream`. `unit` is what it counts, like `orders`; `total` is 0 if unknown. */
export function startProgress(
  stream: NodeJS.WritableStream,
  { title, unit, total }: { title: string; unit: string; total: number },
): Progress {
  const bar = new SingleBar({
    stream,
    format: (_options, { progress, value, maxWidth }, { rate, left }) => {
      const share = `${Math.floor(progress * 100)}% [${"=".repeat(progress * barLength).padEnd(barLength, "-")}]`;
      const text = `${title} ${total === 0 ? `${value} ${unit}` : share} ${rate} ${unit}/s, ${left} left`;
      // Some terminals go on to the next line when the last column is filled.
      return text.slice(0, maxWidth - 1);
    },
    clearOnComplete: true,
    // Otherwise it turns line wrapping off, and the terminal of a killed import stays that way.
    linewrap: true,
  });
  const start = performance.now();
  let drawn = start;
  let latest = 0;
  const draw = (): void => {
    const rate = latest / Math.max((performance.now() - start) / 1000, 0.001);
    bar.update(latest, {
      rate: Math.round(rate),
      left: rate > 0 && total > 0 ? duration(Math.max(total - latest, 0) / rate) : "?",
    });
  };
  bar.start(total, 0, { rate: 0, left: "?" });
  return {
    done(units) {
      latest = units;
      const now = performance.now();
      if (now - drawn < millisecondsPerFrame) return;
      drawn = now;
      draw();
    },
    stop() {
      draw();
      bar.stop();
    },
  };
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
