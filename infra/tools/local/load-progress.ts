import { counted, grouped } from "../terminal/text.ts";

/** Yields the order of each line, and logs once a second how many have been loaded. */
export function* withLoadProgress<Order>(
  lines: Iterable<{ item: Order }>,
  total: number,
  log: (line: string) => void,
) {
  let loaded = 0;
  let loggedAt = performance.now();
  for (const { item } of lines) {
    yield item;
    loaded++;
    if (performance.now() < loggedAt + 1000) continue;
    loggedAt = performance.now();
    log(`Loaded ${grouped(loaded)} of ${counted(total, "order")}`);
  }
}
