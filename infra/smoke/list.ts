import assert from "node:assert/strict";
import { repeatedIds } from "../orders-file/repeated-ids.ts";
import { checkDocumented, checkStatus } from "./check.ts";
import { type OpenResponse, readWhole } from "./client.ts";

/**
 * Checks a list of orders as it arrives. Keeps a few orders at a time in memory, and every id.
 *
 * @param orderId an order that must be in the list.
 * @returns its length in characters.
 * @throws AssertionError or Error unless it is a complete, documented list with no order twice.
 */
export async function checkList(response: OpenResponse, orderId?: string): Promise<number> {
  if (response.status !== 200) checkStatus(await readWhole(response), 200);
  const { text, ...head } = response;
  const seen: bigint[] = [];
  let found = false;
  let length = 0;
  for await (const body of listParts(text)) {
    checkDocumented({ ...head, body });
    length += body.length;
    // Its only other strings are date-times, so this finds names of fields and nothing else.
    for (const [, id = ""] of body.matchAll(/"id"\s*:\s*(-?\d+)/g)) {
      seen.push(BigInt(id));
      found ||= id === orderId;
    }
  }
  const [twice] = repeatedIds(seen);
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
