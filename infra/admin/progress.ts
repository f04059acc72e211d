import cliProgress from "cli-progress";

/**
 * Starts a progress bar on `stream`, with the rate and the time left. It is drawn only on a terminal and cleared at the
 * end, so that other output may follow.
 *
 * @param progress `unit` is what it counts, like `orders`; `total` is 0 if unknown.
 * @returns how to report the number of units that are done in all, and to end it.
 */
export function startProgress(
  stream: NodeJS.WritableStream,
  { title, unit, total }: { title: string; unit: string; total: number },
): { done: (units: number) => void; stop: () => void } {
  const bar = new cliProgress.SingleBar({
    stream,
    format: (options, { progress, value, startTime, maxWidth }) => {
      const rate = value / Math.max((Date.now() - startTime) / 1000, 0.001);
      const share = `${Math.floor(progress * 100)}% [${cliProgress.Format.BarFormat(progress, options)}]`;
      // There may be more than were counted.
      const seconds = Math.ceil(Math.max(total - value, 0) / rate);
      const left = value > 0 && total > 0 ? cliProgress.Format.TimeFormat(seconds, options, 1) : "?";
      const text = `${title} ${total === 0 ? `${value} ${unit}` : share} ${Math.round(rate)} ${unit}/s, ${left} left`;
      // Some terminals go on to the next line when the last column is filled.
      return text.slice(0, maxWidth - 1);
    },
    barsize: 24,
    barCompleteChar: "=",
    barIncompleteChar: "-",
    clearOnComplete: true,
    // Otherwise it turns line wrapping off, and the terminal of a killed import stays that way.
    linewrap: true,
  });
  bar.start(total, 0);
  return { done: (units) => bar.update(units), stop: () => bar.stop() };
}
