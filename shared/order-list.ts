import { once } from "node:events";
import { finished, Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { constants, createGzip } from "node:zlib";
import { systemClock } from "./clock.ts";
import { ServiceError } from "./errors.ts";
import type { ListPage } from "./list-page.ts";
import { logFailure, logOutcome, logWarning } from "./log.ts";
import type { OmittedFields } from "./order.ts";

/** Costs half the CPU of the default, 6, for a body 10 to 20 % longer. */
export const gzipLevel = 3;

/**
 * The longest list, in bytes as sent. Beyond 200 MB, the response's head included, Lambda would cut
 * it off as if the client had hung up.
 */
const mostBytes = 199_000_000;

/** How long before Lambda's timeout a list is cut off, in milliseconds. */
const cutOffEarly = 5_000;

/** How much of a list has been read so far. */
interface Progress {
  orders: number;
  omittedFields: OmittedFields;
}

/**
 * Opens the list of orders. Resolves once the first page has arrived, so that an earlier failure
 * still gets a status of its own; a later one can only cut off the body, and so do Lambda's limits.
 * Logs how the list ends.
 *
 * @param keyId the id of the caller's API key, for the log.
 * @param remainingMilliseconds how long until Lambda's timeout.
 * @returns the JSON array. If it is cut off the stream fails, so it never ends with `]`.
 * @throws what reading the first page throws.
 */
export async function openOrderList(
  pages: AsyncIterable<ListPage>,
  keyId: string,
  isCompressed: boolean,
  remainingMilliseconds: () => number,
): Promise<Readable> {
  const progress: Progress = { orders: 0, omittedFields: {} };
  const chunks = listJson(oneAhead(pages), progress);
  const opened = performance.now();
  const first = await chunks.next();
  const firstPageMilliseconds = Math.round(performance.now() - opened);
  const json = resume(first, chunks);
  const end = new AbortController();
  const timeUp = systemClock
    .pause(remainingMilliseconds() - cutOffEarly, end.signal)
    .then(() => true)
    .catch(() => false);
  // A stream over a generator asks for a page once the one before has been read: the first page is
  // always sent.
  const body = Readable.from(withinLimit(isCompressed ? compress(json) : json, timeUp));
  timeUp.then((isUp) => isUp && body.destroy(cutOff("Lambda's timeout is near")));
  finished(body, (error) => {
    end.abort();
    const { orders, omittedFields } = progress;
    const fields = { keyId, orders, firstPageMilliseconds };
    if (!error) logOutcome("orders_listed", fields);
    else if (error instanceof ServiceError) logFailure("list_cut_off", error, fields);
    else logOutcome("list_abandoned", fields);
    if (Object.keys(omittedFields).length > 0)
      logWarning("order_fields_left_out", { keyId, fields: omittedFields });
  });
  return body;
}

/**
 * The text of the array, one chunk per page; the closing bracket is a chunk of its own, after the
 * last page.
 *
 * @throws ServiceError whatever goes wrong, so that our own failures can be told from clients that
 * hang up.
 */
async function* listJson(pages: AsyncIterable<ListPage>, progress: Progress) {
  let start = "[";
  try {
    for await (const { json, orders, omittedFields } of pages) {
      progress.orders += orders;
      for (const [name, count] of Object.entries(omittedFields))
        progress.omittedFields[name] = (progress.omittedFields[name] ?? 0) + count;
      if (orders === 0) continue;
      // In place of its first comma.
      json.write(start);
      yield json;
      start = ",";
    }
  } catch (error) {
    throw error instanceof ServiceError
      ? error
      : new ServiceError("internal_error", error);
  }
  yield progress.orders === 0 ? "[]" : "]";
}

/** Requests the next page before the current one is written, so that reading and writing overlap. */
async function* oneAhead(pages: AsyncIterable<ListPage>) {
  const values = pages[Symbol.asyncIterator]();
  let next = values.next();
  for (let result = await next; !result.done; result = await next) {
    next = values.next();
    // A failure is handled when this is awaited. Until then the reader may be slow, or hang up.
    next.catch(() => {});
    // The request is sent before the page is written.
    await setImmediate();
    yield result.value;
  }
}

async function* resume<T>(first: IteratorResult<T>, rest: AsyncIterable<T>) {
  if (!first.done) yield first.value;
  yield* rest;
}

/**
 * The chunks, up to `mostBytes` in all.
 *
 * @param timeUp from then on, they can be left while the next one is awaited.
 */
function withinLimit(source: AsyncGenerator<string | Buffer>, timeUp: Promise<unknown>) {
  let bytes = 0;
  const chunks = {
    async next() {
      const result = await source.next();
      bytes += Buffer.byteLength(result.value ?? "");
      if (bytes > mostBytes) throw cutOff(`The list exceeds ${mostBytes} bytes`);
      return result;
    },
    async return() {
      await Promise.race([source.return(undefined), timeUp]);
      return { done: true as const, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => chunks };
}

function cutOff(reason: string) {
  return new ServiceError("internal_error", new Error(reason));
}

/** Compresses a list page by page: each goes out whole before the next one is asked for. */
async function* compress(pages: AsyncIterable<string | Buffer>) {
  const gzip = createGzip({ level: gzipLevel, flush: constants.Z_SYNC_FLUSH });
  const compressed: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => compressed.push(chunk));
  const take = () => Buffer.concat(compressed.splice(0));
  try {
    for await (const page of pages) {
      await new Promise((resolve) => gzip.write(page, resolve));
      yield take();
    }
    await once(gzip.end(), "end");
    yield take();
  } finally {
    gzip.close();
  }
}
