import assert from "node:assert/strict";
import { text as readText } from "node:stream/consumers";
import type { Clock } from "../../../shared/clock.ts";
import { CutOff, type OpenResponse, Warning } from "./client.ts";
import { expectDocumented, expectStatus } from "./document.ts";

/**
 * Shortly after either, the service ends a list (order-list.ts). It counts bytes on the wire, which
 * are no more.
 */
const mostCharacters = 195_000_000;
const mostMilliseconds = 14 * 60_000;

/**
 * Checks a list of orders as it arrives. Only their ids are kept in memory.
 *
 * @param enough how many characters to read at most. Once they are there, hangs up.
 * @returns the number of characters read, and the ids of the orders.
 * @throws AssertionError unless it is a documented list with no order twice; CutOff when it has no
 * end, or a Warning when one of these limits is the likely reason; NotReady for a status that a new
 * stage may respond with.
 */
export async function expectList(
  { text, ...head }: OpenResponse,
  clock: Clock,
  enough = Number.POSITIVE_INFINITY,
) {
  if (head.status !== 200) expectStatus({ ...head, body: await readText(text) }, 200);
  const begun = clock.now();
  const ids = new Set<bigint>();
  let length = 0;
  try {
    for await (const body of readParts(text)) {
      expectDocumented({ ...head, body });
      addIds(body, ids);
      length += body.length;
      if (length >= enough) break;
    }
  } catch (error) {
    const isAtLimit = length >= mostCharacters || clock.now() - begun >= mostMilliseconds;
    if (!(error instanceof CutOff && isAtLimit)) throw error;
    throw new Warning(
      `cut off after ${length} characters, as are all lists beyond 199 MB or 15 minutes`,
    );
  }
  return { length, ids };
}

/** @throws AssertionError for an id that is there already. */
function addIds(body: string, ids: Set<bigint>) {
  for (const [, digits = ""] of body.matchAll(/"id":\s*(-?\d+)/g)) {
    const id = BigInt(digits);
    assert(!ids.has(id), `order ${id} is listed twice`);
    ids.add(id);
  }
}

/**
 * Reads a list as it arrives, as the texts of shorter lists. An order has no braces within, so a
 * brace ends one. A text without any is one part, whatever it is.
 *
 * @throws AssertionError or CutOff unless the parts make up a whole array.
 */
export async function* readParts(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  let start = "[";
  for await (const chunk of text) {
    rest = (rest + chunk).trimStart();
    const end = rest.lastIndexOf("}") + 1;
    if (end === 0) continue;
    assert(
      rest.startsWith(start),
      `the body is not a JSON array: no ${start} before an order`,
    );
    yield `[${rest.slice(1, end)}]`;
    rest = rest.slice(end);
    start = ",";
  }
  if (start === "[") yield rest;
  else if (rest.trim() !== "]")
    throw new CutOff("the body is not a JSON array: it has no end");
}
