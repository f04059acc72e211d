import cliProgress from "cli-progress";

const steadyAfterSeconds = 3;

/**
 * Starts a progress bar on standard error, with the rate and the time left. It is drawn only on a
 * terminal, and cleared when it stops, so that other output may follow.
 *
 * @param unit a plural, like `orders`.
 * @param total the number of them, 0 if unknown.
 */
export function startProgress(title: string, unit: string, total: number): cliProgress.SingleBar {
  // A narrow terminal cuts the line off, so the bar shrinks before the numbers do.
  const barsize = Math.max(4, Math.min(24, (process.stderr.columns ?? 80) - 50));
  const bar = new cliProgress.SingleBar({
    format: (options, { progress, value, startTime }) => {
      const seconds = (Date.now() - startTime) / 1000;
      const rate = value / Math.max(seconds, 0.001);
      const drawn = cliProgress.Format.BarFormat(progress, options);
      const share = `${Math.floor(progress * 100)}% [${drawn}]`;
      const done = total === 0 ? `${value} ${unit}` : share;
      const line = `${title} ${done} ${Math.round(rate)} ${unit}/s`;
      // The first calls are slow, because they open connections.
      if (seconds < steadyAfterSeconds || value === 0 || total === 0) return line;
      // There may be more than were counted.
      const left = Math.ceil(Math.max(total - value, 0) / rate);
      return `${line}, ${cliProgress.Format.TimeFormat(left, options, 1)} left`;
    },
    barsize,
    clearOnComplete: true,
    // Otherwise it turns line wrapping off, and the terminal of a killed import stays that way.
    linewrap: true,
  });
  bar.start(total, 0);
  return bar;
}
