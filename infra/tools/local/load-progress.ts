import { counted, grouped } from "../terminal/text.ts";

/** Yields the order of each line, and logs once a second how many have been loaded. */
export function* withLoadProgress<Order>(
  { count, read }: { count: number; read: () => Iterable<{ item: Order }> },
  log: (line: string) => void,
) {
  let loaded = 0;
  let loggedAt = performance.now();
  for (const { item } of read()) {
    yield item;
    loaded++;
    if (performance.now() < loggedAt + 1000) continue;
    loggedAt = performance.now();
    log(`Loaded ${grouped(loaded)} of ${counted(count, "order")}`);
  }
}
