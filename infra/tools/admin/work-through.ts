import type { OrderItem } from "../../../shared/order.ts";
import { batches, batchSize } from "../orders-file/batches.ts";
import { errorText } from "../terminal/errors.ts";
import { counted } from "../terminal/text.ts";
import { startProgress } from "./progress.ts";
import type { Session } from "./session.ts";
import { UnsettledWriteError } from "./table-calls.ts";

/** Enough to keep a table busy from one machine; the client opens 50 connections at most. */
const concurrency = 48;

interface Work<Item, Outcome extends string> {
  /** The title of the progress, its unit, a plural, and how many there are, if that is known. */
  title: string;
  unit: string;
  total?: number;
  items: AsyncIterable<Item> | Iterable<Item>;
  /** The key of an item's order. If given, orders are read first, consistently. */
  keyOf?: ((item: Item) => OrderItem) | undefined;
  /** Works on an item, given its order, and yields the outcome, or several for a batch. */
  work: (item: Item, order?: OrderItem) => AsyncIterable<Outcome>;
  /** The number of items with each outcome, which grows while the work goes on. */
  counts: Record<Outcome, number>;
}

/**
 * Works on items, several at a time, until the first failure or Ctrl-C. Shows the progress and
 * counts the outcomes. Work that has begun is finished, but doesn't wait any longer.
 *
 * @returns how many outcomes there were, the number of writes that failed, but may have been
 * applied, and the reason, in one line, if it stopped early.
 */
export async function workThrough<Item, Outcome extends string>(
  { calls, ordersTable, stop, interruptible }: Session,
  { title, unit, total = 0, items, keyOf, work, counts }: Work<Item, Outcome>,
): Promise<{ done: number; unsettled: number; reason: string | undefined }> {
  const progress = startProgress(title, unit, total);
  const signal = interruptible();
  let done = 0;
  let unsettled = 0;
  let reason: string | undefined;
  const fail = (error: unknown) => {
    const isUnsettled = error instanceof UnsettledWriteError;
    if (isUnsettled) unsettled += 1;
    // Only the first reason counts.
    stop.abort(isUnsettled ? error.cause : error);
    reason = errorText(signal.reason);
  };
  const reads = keyOf && calls("reads");
  const ordersOf = async (batch: Item[]) => {
    if (!reads) return () => undefined;
    const find = await reads.read(ordersTable, "id", batch.map(keyOf), true);
    return (item: Item) => find(keyOf(item));
  };
  async function* queued() {
    for await (const batch of batches(items, keyOf ? batchSize : 1)) {
      signal.throwIfAborted();
      const orderOf = await ordersOf(batch);
      for (const item of batch) yield [item, orderOf(item)] as const;
    }
  }
  // The workers share one queue, so each item goes to one of them, and is read only when one is
  // free.
  const queue = queued();
  const worker = async () => {
    try {
      for await (const [item, order] of queue) {
        signal.throwIfAborted();
        for await (const outcome of work(item, order)) {
          counts[outcome] = (counts[outcome] ?? 0) + 1;
          progress.update(++done);
        }
      }
    } catch (error) {
      fail(error);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  progress.stop();
  if (unsettled > 0) reason += `. ${counted(unsettled, "write")} may have been applied`;
  return { done, unsettled, reason };
}
