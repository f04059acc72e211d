import assert from "node:assert/strict";
import { text as readText } from "node:stream/consumers";
import type { OpenResponse } from "./client.ts";
import { expectDocumented, expectStatus } from "./response-problems.ts";

/**
 * Checks a list of orders as it arrives. Keeps a few orders at a time in memory, and every id.
 *
 * @param orderId an order that must be in the list.
 * @returns its length in characters.
 * @throws AssertionError or Error unless it is a complete, documented list with no order twice.
 */
export async function expectList(response: OpenResponse, orderId?: string): Promise<number> {
  const { text, ...head } = response;
  if (head.status !== 200) expectStatus({ ...head, body: await readText(text) }, 200);
  // Not the digits: they would keep the text that they were cut out of.
  const ids = new Set<bigint>();
  let length = 0;
  for await (const body of listParts(text)) {
    expectDocumented({ ...head, body });
    length += body.length;
    // Its only other strings are date-times, so this finds names of fields and nothing else.
    for (const [, id = ""] of body.matchAll(/"id"\s*:\s*(-?\d+)/g)) {
      assert(!ids.has(BigInt(id)), `order ${id} is listed twice`);
      ids.add(BigInt(id));
    }
  }
  assert(orderId === undefined || ids.has(BigInt(orderId)), `order ${orderId} is not listed`);
  return length;
}

/**
 * Splits the text of a list into lists of whole orders, a chunk's worth each. Streaming JSON
 * parsers lose the exact digits of an int64; this leaves them to the one validator. In a documented
 * list, `},` stands between any two orders and nowhere else.
 *
 * @returns parts that are all documented lists exactly when the text is one. All but the first
 * begin with an empty order, so that a comma at the end remains a mistake.
 */
export async function* listParts(text: AsyncIterable<string>): AsyncGenerator<string> {
  let start = "";
  let rest = "";
  for await (const chunk of text) {
    rest += chunk;
    const end = rest.lastIndexOf("},") + 1;
    if (end === 0) continue;
    yield `${start}${rest.slice(0, end)}]`;
    start = "[{}";
    rest = rest.slice(end);
  }
  yield start + rest;
}
