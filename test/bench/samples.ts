/** The middle of the samples. */
export function median(samples: number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** How long something takes, in milliseconds. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await run();
  return performance.now() - begun;
}

/**
 * Samples two things in turn, so that whatever else the machine does falls on both alike, and gives both medians. The
 * first pair warms up and is thrown away.
 */
export async function interleaved(
  count: number,
  ours: () => Promise<number>,
  floor: () => Promise<number>,
): Promise<{ ours: number; floor: number }> {
  const samples: { ours: number; floor: number }[] = [];
  for (let run = 0; run <= count; run += 1) {
    // Each goes first every other time.
    if (run % 2 === 0) samples.push({ ours: await ours(), floor: await floor() });
    else {
      const floorFirst = await floor();
      samples.push({ ours: await ours(), floor: floorFirst });
    }
  }
  const warm = samples.slice(1);
  return { ours: median(warm.map((sample) => sample.ours)), floor: median(warm.map((sample) => sample.floor)) };
}
