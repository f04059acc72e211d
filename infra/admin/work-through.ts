import { errorLine } from "../terminal/errors.ts";

/** Enough to keep a table busy from one machine; the client opens 50 connections at most. */
const concurrency = 48;

/**
 * Does `work` with each item, several at a time, until the first failure or until the signal
 * aborts. What has begun is finished, except for waits that heed the signal that `work` is given.
 *
 * @returns why it did not get to the end, in one line, if it did not.
 */
export async function workThrough<Item>(
  items: AsyncIterable<Item> | IteratorObject<Item>,
  work: (item: Item, stop: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  let reason: string | undefined;
  // All workers share the one iterator, so each item goes to one of them, and is read only when one
  // is free.
  const worker = async (): Promise<void> => {
    try {
      for await (const item of items) {
        stop.throwIfAborted();
        await work(item, stop);
      }
    } catch (error) {
      reason ??= signal.aborted ? "Interrupted" : errorLine(error);
      failed.abort();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return reason;
}
