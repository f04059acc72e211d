import { RepeatedIds } from "../orders-file/repeated-ids.ts";
import { check, checkDocumented, checkStatus } from "./check.ts";
import type { OpenResponse } from "./client.ts";

/**
 * Checks a list of orders as it arrives. Keeps a few orders at a time in memory, and eight bytes for each id.
 *
 * @param orderId an order that must be in the list.
 * @returns its length in characters.
 * @throws NotReady or Broken unless it is a complete, documented list with no order twice.
 */
export async function checkList({ text, ...response }: OpenResponse, orderId?: string): Promise<number> {
  if (response.status !== 200) checkStatus({ ...response, body: (await Array.fromAsync(text)).join("") }, 200);
  const seen = new RepeatedIds();
  const counts: number[] = [];
  let found = false;
  let length = 0;
  for await (const body of arrayParts(text)) {
    checkDocumented({ ...response, body });
    length += body.length;
    const orders = parseIds(body);
    counts.push(orders.length);
    for (const { id } of orders) {
      if (id === undefined) continue;
      seen.add(id);
      found ||= String(id) === orderId;
    }
  }
  check(counts.length === 1 || !counts.includes(0), "body has a comma without an order on either side");
  const [twice] = seen.find();
  check(twice === undefined, `order ${twice} is listed twice`);
  check(orderId === undefined || found, `order ${orderId} is not listed`);
  return length;
}

/**
 * Splits the text of a JSON array into arrays of whole elements, a chunk's worth each. Streaming JSON parsers lose the
 * exact digits of an int64; this leaves them to the one validator.
 *
 * @returns parts that all parse exactly when the text does, except that a stray comma shows as an empty part.
 */
export async function* arrayParts(text: AsyncIterable<string>): AsyncGenerator<string> {
  let part = "";
  let depth = 0;
  let inString = false;
  let escaped = false;
  for await (const chunk of text) {
    let lastComma = -1;
    for (let index = 0; index < chunk.length; index++) {
      const character = chunk[index];
      if (inString) {
        inString = escaped || character !== '"';
        escaped = !escaped && character === "\\";
      } else if (character === '"') inString = true;
      else if (character === "[" || character === "{") depth++;
      else if (character === "]" || character === "}") depth--;
      else if (character === "," && depth === 1) lastComma = index;
    }
    if (lastComma >= 0) yield `${part}${chunk.slice(0, lastComma)}]`;
    part = lastComma < 0 ? part + chunk : `[${chunk.slice(lastComma + 1)}`;
  }
  yield part;
}

function parseIds(body: string): { id?: bigint }[] {
  return JSON.parse(body, (name, value, context?: { source: string }) =>
    name === "id" ? BigInt(context?.source ?? "") : value,
  );
}
