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
 * Samples several things in turn, so that whatever else the machine does falls on all alike. The first round warms up and
 * is thrown away.
 */
export async function inTurn<Name extends string, Sample>(
  count: number,
  things: Record<Name, () => Promise<Sample>>,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(things) as Name[];
  const samples = Object.fromEntries(names.map((name): [Name, Sample[]] => [name, []])) as Record<Name, Sample[]>;
  for (let round = 0; round <= count; round += 1) {
    // The order turns round from one round to the next.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const sample = await things[name]();
      if (round > 0) samples[name].push(sample);
    }
  }
  return samples;
}

/** The median of each. */
export function medians<Name extends string>(samples: Record<Name, number[]>): Record<Name, number> {
  const entries = Object.entries<number[]>(samples).map(([name, values]) => [name, median(values)]);
  return Object.fromEntries(entries) as Record<Name, number>;
}
