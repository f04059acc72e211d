import { errorText } from "../terminal/errors.ts";

/** Enough to keep a table busy from one machine; the client opens 50 connections at most. */
const concurrency = 48;

/**
 * Does `work` with each item, several at a time, until the first failure or until the signal
 * aborts. Work that has begun is finished; its `stop` signal only cuts its waits short.
 *
 * @returns the reason, in one line, if it stopped early.
 */
export async function workThrough<Item>(
  items: AsyncIterable<Item> | IteratorObject<Item>,
  work: (item: Item, stop: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  let reason: string | undefined;
  // The workers share one iterator, so each item goes to one of them, and is read only when one is
  // free.
  const worker = async (): Promise<void> => {
    try {
      for await (const item of items) {
        stop.throwIfAborted();
        await work(item, stop);
      }
    } catch (error) {
      reason ??= errorText(signal.aborted ? signal.reason : error);
      failed.abort();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return reason;
}
