import assert, { AssertionError } from "node:assert/strict";
import { type Duplex, Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { asStream, gen } from "stream-chain";
import { parser, type Token } from "stream-json/parser.js";
import { streamArray } from "stream-json/streamers/stream-array.js";
import { batch } from "stream-json/utils/batch.js";
import { type OpenResponse, reason } from "./client.ts";
import { expectDocumented, expectStatus } from "./expect-response.ts";

/**
 * Checks a list of orders as it arrives. Only their ids are kept in memory.
 *
 * @param orderId an order that must be in the list.
 * @returns its length in characters, without white space.
 * @throws AssertionError unless it is a complete, documented list with no order twice; NotReady for
 * a status that a new stage may respond with.
 */
export async function expectList(response: OpenResponse, orderId?: string): Promise<number> {
  const { text, ...head } = response;
  if (head.status !== 200) expectStatus({ ...head, body: await readText(text) }, 200);
  // Checks the headers even if no order follows.
  expectDocumented({ ...head, body: "[]" });
  const ids = new Set<bigint>();
  let length = 0;
  for await (const orders of readOrderBatches(text)) {
    const body = JSON.stringify(orders);
    expectDocumented({ ...head, body });
    length += body.length;
    for (const { id } of orders) {
      if (!JSON.isRawJSON(id)) continue;
      assert(!ids.has(BigInt(id.rawJSON)), `order ${id.rawJSON} is listed twice`);
      ids.add(BigInt(id.rawJSON));
    }
  }
  assert(orderId === undefined || ids.has(BigInt(orderId)), `order ${orderId} is not listed`);
  return length;
}

/**
 * Reads the orders of a list as it arrives, a few at a time. The digits of a number stay, as
 * `JSON.rawJSON`.
 *
 * @throws AssertionError unless the whole text is a JSON array.
 */
export async function* readOrderBatches(
  text: AsyncIterable<string>,
): AsyncGenerator<Record<string, unknown>[]> {
  const parse: Duplex = asStream(
    gen(parser({ streamValues: false }), exactElements(), batch({ batchSize: 500 })),
  );
  try {
    for await (const elements of Readable.from(text).compose(parse))
      yield elements.map(({ value }: { value: Record<string, unknown> }) => value);
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    assert.fail(`the body is not a JSON array: ${reason(error)}`);
  }
}

/**
 * Makes a function that takes the tokens of an array and returns each element when it ends. The
 * reviver sees a number right after its token, and so knows its digits.
 */
function exactElements() {
  let digits = "";
  const elementOf = streamArray({
    reviver: (_name, value: unknown) => (typeof value === "number" ? JSON.rawJSON(digits) : value),
  });
  return (token: Token) => {
    if (token.name === "numberValue") digits = token.value;
    return elementOf(token);
  };
}
