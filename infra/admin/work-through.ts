/** Enough to keep a table busy from one machine; the client opens 50 connections at most. */
const concurrency = 48;

/**
 * Does `work` with each item, several at a time, until the first failure or until the signal aborts. What has begun is
 * finished, except for waits that heed the signal that `work` is given.
 *
 * @returns what failed, if anything did.
 */
export async function workThrough<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item, stop: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<unknown> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  let failure: unknown;
  // All workers share the one iterator, so each item goes to one of them, and is read only when one is free.
  const worker = async (): Promise<void> => {
    for await (const item of items) {
      if (stop.aborted) return;
      await work(item, stop);
    }
  };
  const guarded = Array.from({ length: concurrency }, () =>
    worker().catch((error: unknown) => {
      if (stop.aborted) return;
      failure = error;
      failed.abort();
    }),
  );
  await Promise.all(guarded);
  return failure;
}
