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
 * Samples two things in turn, so that whatever else the machine does falls on both alike. The first pair warms up and
 * is thrown away.
 */
export async function pairs<Sample>(
  count: number,
  ours: () => Promise<Sample>,
  floor: () => Promise<Sample>,
): Promise<{ ours: Sample[]; floor: Sample[] }> {
  const samples: { ours: Sample[]; floor: Sample[] } = { ours: [], floor: [] };
  for (let run = 0; run <= count; run += 1) {
    // Which goes first changes from pair to pair.
    if (run % 2 === 0) samples.ours.push(await ours());
    samples.floor.push(await floor());
    if (run % 2 === 1) samples.ours.push(await ours());
  }
  return { ours: samples.ours.slice(1), floor: samples.floor.slice(1) };
}

/** The medians of such samples. */
export async function interleaved(
  count: number,
  ours: () => Promise<number>,
  floor: () => Promise<number>,
): Promise<{ ours: number; floor: number }> {
  const samples = await pairs(count, ours, floor);
  return { ours: median(samples.ours), floor: median(samples.floor) };
}
