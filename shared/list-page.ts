import { crc32 } from "node:zlib";
import type { ScanCommandOutput } from "@aws-sdk/client-dynamodb";
import { AwsJson1_0Protocol } from "@aws-sdk/core/protocols";
import { collectBody } from "@smithy/core/protocols";
import type { MetadataBearer } from "@smithy/types";
import {
  dateTime,
  type OmittedFields,
  type OrderFieldType,
  type OrderItem,
  orderFields,
  orderJson,
  shortInt64,
} from "./order.ts";

// The text of a page becomes the text of a list without being parsed, which takes a third of the
// CPU. One pattern matches an order as DynamoDB sends it, the first line, and replaces it with the
// second:
//
// {"complete":{"BOOL":true},"id":{"N":"42"},"petId":{"N":"7"}}
// {"id":42,"petId":7,"complete":true}
//
// It matches only orders whose every attribute `orderJson` would write. The others, in between, are
// parsed, and written by `orderJson`.

/** The orders of a page. */
export interface ListPage {
  /** Their JSON, with a comma before each order. */
  json: Buffer;
  orders: number;
  omittedFields: OmittedFields;
}

type OrderField = (typeof orderFields)[number];

/** The pages that `ListProtocol` has read, by their Scan's output. */
const pages = new WeakMap<object, ListPage>();

/** The orders in the output of a Scan, by a client with `ListProtocol` or by any other. */
export function listPage(output: ScanCommandOutput): ListPage {
  return pages.get(output) ?? writePage([], output.Items);
}

/** DynamoDB's protocol, except that the output of a Scan has a `listPage` instead of `Items`. */
export class ListProtocol extends AwsJson1_0Protocol {
  /**
   * How many bytes of a page are written at a time. V8 frees a text of more than 128 KB only with
   * its whole old generation, which took lists a fifth of their CPU.
   */
  static pieceLength = 64_000;

  override async deserializeResponse<Output extends MetadataBearer>(
    ...[operation, context, response]: Parameters<
      AwsJson1_0Protocol["deserializeResponse"]
    >
  ): Promise<Output> {
    if (this.isErrorResponse(response.statusCode))
      return await super.deserializeResponse(operation, context, response);
    const body = await collectBody(response.body, context);
    const { "x-amz-crc32": checksum } = response.headers;
    // The call counts as lost.
    if (checksum !== undefined && crc32(body) !== Number(checksum))
      throw new Error("The response doesn't match its checksum");
    try {
      const { buffer, byteOffset, length } = body;
      const { page, rest } = readPage(Buffer.from(buffer, byteOffset, length));
      const output = { ...rest, $metadata: this.deserializeMetadata(response) };
      pages.set(output, page);
      return output;
    } catch {
      // Another response, or an incomplete one: the SDK tells which.
      return await super.deserializeResponse(operation, context, { ...response, body });
    }
  }
}

/**
 * Reads the response to a Scan: its page, and the output without it.
 *
 * @throws an error when the body isn't JSON, or isn't such a response.
 */
function readPage(body: Buffer) {
  const start = body.indexOf("[");
  const end = body.lastIndexOf("]");
  // Only these two brackets are left: if Items is an array, they are its own.
  const around = [body.subarray(0, start + 1), body.subarray(end)];
  const { Items, ...rest } = JSON.parse(String(Buffer.concat(around)));
  if (!Array.isArray(Items)) throw new TypeError("The response has no Items");
  return { page: writePage(piecesOf(body.subarray(start, end))), rest };
}

/** The text of orders, in pieces that each begin with what precedes an order. */
function* piecesOf(orders: Buffer) {
  for (let start = 0; start < orders.length; ) {
    // If this is in a string or a list, and so no order's end, the pieces aren't JSON.
    const last = orders.indexOf("}},{", start + ListProtocol.pieceLength);
    const end = last < 0 ? orders.length : last + 2;
    yield orders.toString("utf8", start, end);
    start = end;
  }
}

/**
 * Writes a page.
 *
 * @param pieces the orders, and what precedes each: a bracket for the first one, else a comma.
 * @param items more orders.
 */
function writePage(pieces: Iterable<string>, items: OrderItem[] = []): ListPage {
  const omittedFields: OmittedFields = {};
  const json: Buffer[] = [];
  let orders = 0;
  const add = (written: string[]) => {
    orders += written.length;
    if (written.length > 0) json.push(Buffer.from(`,${written.join()}`));
  };
  let pattern: OrderPattern | undefined;
  for (const text of pieces) {
    pattern ??= patternFor(text);
    add(writePiece(text, pattern, omittedFields));
  }
  add(items.map((item) => orderJson(item, omittedFields)));
  return { json: Buffer.concat(json), orders, omittedFields };
}

/** The JSON of each order in a piece. */
function writePiece(
  text: string,
  { pattern, replacement }: OrderPattern,
  omittedFields: OmittedFields,
): string[] {
  // A line break marks each order that matches, so the text itself must have none. Within a JSON
  // string there is never one.
  if (text.includes("\n")) throw new SyntaxError("The response has line breaks");
  const [first = "", ...lines] = text.replace(pattern, replacement).split("\n");
  const orders: string[] = [];
  const parse = (others: string) => {
    // The 0 makes a comma with nothing after it a syntax error.
    const [, ...items] = JSON.parse(`[0,${others.slice(1)}]`);
    for (const item of items) orders.push(orderJson(item, omittedFields));
  };
  if (first !== "" && text !== "[") parse(first);
  for (const line of lines) {
    const end = line.indexOf("}") + 1;
    orders.push(line.slice(0, end));
    if (end < line.length) parse(line.slice(end));
  }
  return orders;
}

type OrderPattern = ReturnType<typeof makePattern>;

const patterns = new Map<string, OrderPattern>();

/**
 * The pattern for the orders of a page that begins with this text. DynamoDB doesn't document the
 * order of an item's attributes: the pattern has that of the first order with the most of them.
 */
function patternFor(text: string) {
  let most: string[] = [];
  for (const order of text.slice(0, 10_000).split(",{")) {
    const names = Array.from(order.matchAll(/"(\w+)":\{/g), ([, name = ""]) => name);
    if (names.length > most.length) most = names;
  }
  const place = ({ name }: OrderField) => most.indexOf(name);
  const fields = orderFields.toSorted((one, other) => place(one) - place(other));
  const key = fields.map(({ name }) => name).join();
  const pattern = patterns.get(key) ?? makePattern(fields);
  patterns.set(key, pattern);
  return pattern;
}

/** The attribute of each type. It captures, by the field's name, the value as JSON. */
const attributes: Record<OrderFieldType, (name: string) => string> = {
  int64: (name) => `\\{"N":"(?<${name}>${shortInt64.source})"\\}`,
  "date-time": (name) => `\\{"S":(?<${name}>"${dateTime.source}")\\}`,
  boolean: (name) => `\\{"BOOL":(?<${name}>true|false)\\}`,
};

/**
 * Makes the pattern of orders whose attributes are in the order of these fields, and what replaces
 * them. Every order has the first field of `orderFields`, the table's key. Another field, which may
 * be missing, is captured with the comma between it and the key.
 */
function makePattern(fields: OrderField[]) {
  const [key, ...others] = orderFields;
  const each = fields.map((field, index) => {
    const { name, type } = field;
    const value = attributes[type](name);
    if (field === key) return `"${name}":${value}`;
    return index < fields.indexOf(key)
      ? `(?:(?<${name}Name>"${name}":)${value}(?<${name}Comma>,))?`
      : `(?:(?<${name}Name>,"${name}":)${value})?`;
  });
  // A group that the pattern doesn't have is replaced by nothing.
  const rest = others.map(({ name }) => `$<${name}Comma>$<${name}Name>$<${name}>`);
  return {
    pattern: new RegExp(`(?:^\\[|,)\\{${each.join("")}\\}(?=,|$)`, "g"),
    replacement: `\n{"${key.name}":$<${key.name}>${rest.join("")}}`,
  };
}
