import assert from "node:assert/strict";
import { type OpenResponse, readWhole } from "./client.ts";
import { expectDocumented, expectStatus } from "./expect.ts";

/**
 * Checks a list of orders as it arrives. Keeps a few orders at a time in memory, and every id.
 *
 * @param orderId an order that must be in the list.
 * @returns its length in characters.
 * @throws AssertionError or Error unless it is a complete, documented list with no order twice.
 */
export async function expectList(response: OpenResponse, orderId?: string): Promise<number> {
  if (response.status !== 200) expectStatus(await readWhole(response), 200);
  const { text, ...head } = response;
  const seen: bigint[] = [];
  let found = false;
  let length = 0;
  for await (const body of listParts(text)) {
    expectDocumented({ ...head, body });
    length += body.length;
    // Its only other strings are date-times, so this finds names of fields and nothing else.
    for (const [, id = ""] of body.matchAll(/"id"\s*:\s*(-?\d+)/g)) {
      seen.push(BigInt(id));
      found ||= id === orderId;
    }
  }
  const sorted = BigInt64Array.from(seen).sort();
  const twice = sorted.find((id, at) => at > 0 && id === sorted[at - 1]);
  assert(twice === undefined, `order ${twice} is listed twice`);
  assert(orderId === undefined || found, `order ${orderId} is not listed`);
  return length;
}

/**
 * Splits the text of a list into lists of whole orders, a chunk's worth each. Streaming JSON parsers lose the exact
 * digits of an int64; this leaves them to the one validator. In a documented list, `},` stands between any two orders
 * and nowhere else.
 *
 * @returns parts that are all documented lists exactly when the text is one. All but the first begin with an empty
 *   order, so that a comma at the end remains a mistake.
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
