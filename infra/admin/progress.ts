import cliProgress from "cli-progress";

/**
 * Starts a progress bar on standard error, with the rate and the time left. It is drawn only on a
 * terminal, and cleared when it stops, so that other output may follow.
 *
 * @param unit what it counts, like `orders`.
 * @param total how many there are in all, 0 if unknown.
 */
export function startProgress(title: string, unit: string, total: number): cliProgress.SingleBar {
  const bar = new cliProgress.SingleBar({
    format: (options, { progress, value, startTime }) => {
      const rate = value / Math.max((Date.now() - startTime) / 1000, 0.001);
      const share = `${Math.floor(progress * 100)}% [${cliProgress.Format.BarFormat(progress, options)}]`;
      // There may be more than were counted.
      const seconds = Math.ceil(Math.max(total - value, 0) / rate);
      const left =
        value > 0 && total > 0 ? cliProgress.Format.TimeFormat(seconds, options, 1) : "?";
      return `${title} ${total === 0 ? `${value} ${unit}` : share} ${Math.round(rate)} ${unit}/s, ${left} left`;
    },
    barsize: 24,
    clearOnComplete: true,
    // Otherwise it turns line wrapping off, and the terminal of a killed import stays that way.
    linewrap: true,
  });
  bar.start(total, 0);
  return bar;
}
