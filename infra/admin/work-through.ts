import { errorText } from "../terminal/errors.ts";
import { startProgress } from "./progress.ts";

/** Enough to keep a table busy from one machine; the client opens 50 connections at most. */
const concurrency = 48;

interface Work<Item, Outcome extends string> {
  /** The title of the progress, its unit, a plural, and how many there are, if that is known. */
  title: string;
  unit: string;
  total?: number;
  items: AsyncIterable<Item> | IteratorObject<Item>;
  /** Works on an item and yields the outcome, or several for a batch. */
  work: (item: Item, stop: AbortSignal) => AsyncIterable<Outcome>;
  /** The number of items with each outcome, which grows while the work goes on. */
  counts: Record<Outcome, number>;
  signal: AbortSignal;
}

/**
 * Works on items, several at a time, until the first failure or until the signal aborts. Shows the
 * progress and counts the outcomes. Work that has begun is finished; its `stop` signal only cuts
 * its waits short.
 *
 * @returns how many outcomes there were, and the reason, in one line, if it stopped early.
 */
export async function workThrough<Item, Outcome extends string>({
  title,
  unit,
  total = 0,
  items,
  work,
  counts,
  signal,
}: Work<Item, Outcome>): Promise<{ done: number; reason: string | undefined }> {
  const progress = startProgress(title, unit, total);
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  let done = 0;
  let reason: string | undefined;
  // The workers share one iterator, so each item goes to one of them, and is read only when one is
  // free.
  const outcomes = async function* (): AsyncIterable<Outcome> {
    for await (const item of items) {
      stop.throwIfAborted();
      yield* work(item, stop);
    }
  };
  const worker = async (): Promise<void> => {
    try {
      for await (const outcome of outcomes()) {
        counts[outcome] = (counts[outcome] ?? 0) + 1;
        progress.update(++done);
      }
    } catch (error) {
      reason ??= errorText(signal.aborted ? signal.reason : error);
      failed.abort();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  progress.stop();
  return { done, reason };
}
