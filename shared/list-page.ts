import { crc32 } from "node:zlib";
import type { ScanCommandOutput } from "@aws-sdk/client-dynamodb";
import { AwsJson1_0Protocol } from "@aws-sdk/core/protocols";
import type { MetadataBearer } from "@smithy/types";
import {
  isDateTime,
  isInt64,
  type OmittedFields,
  type OrderFieldType,
  type OrderItem,
  orderFields,
  orderJson,
} from "./order.ts";

// The bytes of a page become the bytes of a list in one pass, without being parsed, which takes
// twice the CPU. An order as DynamoDB sends it, the first line, becomes the second:
//
// {"complete":{"BOOL":true},"quantity":{"S":"1"},"id":{"N":"42"}}
// {"id":42,"complete":true}
//
// Attributes may be missing, of a wrong type, and in any order: DynamoDB documents none. An order
// with anything else is parsed, and written by `orderJson`.

/** The orders of a page. */
export interface ListPage {
  /** Their JSON, with a comma before each order. */
  json: Buffer;
  orders: number;
  omittedFields: OmittedFields;
}

/** The pages that `ListProtocol` has read, by their Scan's output. */
const pages = new WeakMap<object, ListPage>();

/** The orders in the output of a Scan, by a client with `ListProtocol` or by any other. */
export function listPage(output: ScanCommandOutput): ListPage {
  return pages.get(output) ?? pageOf(output.Items);
}

function pageOf(items: OrderItem[] = []): ListPage {
  const omittedFields: OmittedFields = {};
  const json = items.map((item) => `,${orderJson(item, omittedFields)}`);
  return { json: Buffer.from(json.join("")), orders: items.length, omittedFields };
}

/** DynamoDB's protocol, except that the output of a Scan has a `listPage` instead of `Items`. */
export class ListProtocol extends AwsJson1_0Protocol {
  override async deserializeResponse<Output extends MetadataBearer>(
    ...[operation, context, response]: Parameters<
      AwsJson1_0Protocol["deserializeResponse"]
    >
  ): Promise<Output> {
    if (this.isErrorResponse(response.statusCode))
      return await super.deserializeResponse(operation, context, response);
    const chunks = await Array.fromAsync<Buffer>(response.body);
    const body = join(chunks);
    const { "x-amz-crc32": checksum } = response.headers;
    // The call counts as lost.
    if (checksum !== undefined && crc32(body) !== Number(checksum))
      throw new Error("The response doesn't match its checksum");
    try {
      const { page, rest } = readPage(body);
      const output = { ...rest, $metadata: this.deserializeMetadata(response) };
      pages.set(output, page);
      return output;
    } catch {
      // Another response, or an incomplete one: the SDK tells which.
      const copy = { ...response, body: Buffer.concat(chunks) };
      return await super.deserializeResponse(operation, context, copy);
    }
  }
}

/**
 * The memory of every body. With a new buffer for each, V8 collects its whole heap more often, which
 * took lists a fifth of their CPU.
 */
let memory = Buffer.alloc(0);

/** Joins the chunks of a body. It is overwritten by the next one: don't wait while using it. */
function join(chunks: Buffer[]) {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length > memory.length) memory = Buffer.alloc(length);
  chunks.reduce((at, chunk) => at + chunk.copy(memory, at), 0);
  return memory.subarray(0, length);
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
  return { page: new PageWriter(body.subarray(start, end)).write(), rest };
}

/** How a page writes the attributes of a type: what is before and after each value. */
interface AttributeType {
  before: Buffer;
  after: Buffer;
  /** How many of the quotes at each end of a value are part of its JSON. */
  quotes: number;
  isValue: (page: Buffer, start: number, end: number) => boolean;
}

const types: Record<OrderFieldType, AttributeType> = {
  int64: {
    before: Buffer.from('{"N":"'),
    after: Buffer.from('"}'),
    quotes: 0,
    isValue: (page, start, end) =>
      isShortInt64(page, start, end) || isInt64(page.toString("latin1", start, end)),
  },
  "date-time": {
    before: Buffer.from('{"S":"'),
    after: Buffer.from('"}'),
    quotes: 1,
    isValue: (page, start, end) => isDateTime(page.toString("latin1", start, end)),
  },
  boolean: {
    before: Buffer.from('{"BOOL":'),
    after: Buffer.from("}"),
    quotes: 0,
    isValue: (page, start) => isAt(page, start, yes) || isAt(page, start, no),
  },
};
const yes = Buffer.from("true}");
const no = Buffer.from("false}");

const fields = orderFields.map(({ name, type }, index) => ({
  index,
  name,
  key: Buffer.from(`"${name}":`),
  type: types[type],
}));

const codeOf = (character: string) => character.charCodeAt(0);
const comma = codeOf(",");
const open = codeOf("{");
const close = codeOf("}");
const zero = codeOf("0");
const nine = codeOf("9");

/** The field whose name begins with this byte. */
const fieldOf = Array.from({ length: 256 }, (_, byte) =>
  fields.find(({ name }) => codeOf(name) === byte),
);

function isAt(page: Buffer, at: number, text: Buffer) {
  for (let index = 0; index < text.length; index += 1)
    if (page[at + index] !== text[index]) return false;
  return true;
}

/** The type of the attribute that begins here, which is probably the field's. */
function typeAt(page: Buffer, at: number, usual: AttributeType) {
  if (isAt(page, at, usual.before)) return usual;
  return Object.values(types).find(({ before }) => isAt(page, at, before));
}

/** Where the first byte like this one is, or the page ends. Faster here than `indexOf`. */
function find(page: Buffer, start: number, byte: number | undefined) {
  let at = start;
  while (at < page.length && page[at] !== byte) at += 1;
  return at;
}

/** Whether these are 1 to 18 digits, and the first isn't 0: nearly every int64. */
function isShortInt64(page: Buffer, start: number, end: number) {
  if (page[start] === zero || end - start > 18) return false;
  for (let at = start; at < end; at += 1) {
    const digit = page[at] ?? 0;
    if (digit < zero || digit > nine) return false;
  }
  return start < end;
}

/** What `#starts` has instead of where a value begins. */
const missing = 0;
const wrong = -1;

/** Writes the orders of a page. */
class PageWriter {
  /** From the bracket before the first order to the end of the last one. */
  readonly #page: Buffer;
  /** Long enough: an order is no longer here than in the page. */
  readonly #json: Buffer;
  #length = 0;
  readonly #omittedFields: OmittedFields = {};
  /** Where the values of the current order begin and end, by the index of the field. */
  readonly #starts = new Int32Array(fields.length);
  readonly #ends = new Int32Array(fields.length);

  constructor(page: Buffer) {
    this.#page = page;
    this.#json = Buffer.allocUnsafe(page.length);
  }

  /** @throws an error unless the page consists of orders, with a comma between them. */
  write(): ListPage {
    let orders = 0;
    for (let at = 1; at < this.#page.length; orders += 1) {
      if (orders > 0 && this.#page[at++] !== comma) throw new SyntaxError("No comma");
      at = this.#writeOrder(at);
    }
    const json = this.#json.subarray(0, this.#length);
    return { json, orders, omittedFields: this.#omittedFields };
  }

  /** @returns where the order ends. */
  #writeOrder(start: number) {
    const page = this.#page;
    if (page[start] !== open) throw new SyntaxError("No order");
    this.#starts.fill(missing);
    let at = start;
    do at = this.#findValue(at + 1);
    while (page[at] === comma);
    if (page[at] !== close) return this.#parseOrder(start);
    this.#writeFields();
    return at + 1;
  }

  /**
   * Finds the value of the attribute that begins here.
   *
   * @returns where the attribute ends, or 0, where the bracket is, for anything else.
   */
  #findValue(at: number) {
    const page = this.#page;
    const field = fieldOf[page[at + 1] ?? 0];
    if (field === undefined || !isAt(page, at, field.key)) return 0;
    const type = typeAt(page, at + field.key.length, field.type);
    if (type === undefined) return 0;
    const start = at + field.key.length + type.before.length;
    const end = find(page, start, type.after[0]);
    const next = end + type.after.length;
    const isValue = type.isValue(page, start, end);
    // A wrong value is left out, but must be JSON.
    const isUsual = isValue
      ? isAt(page, end, type.after)
      : /^"[\w :.+-]*"\}$/.test(page.toString("latin1", start - 1, next));
    if (!isUsual) return 0;
    this.#starts[field.index] =
      isValue && type === field.type ? start - type.quotes : wrong;
    this.#ends[field.index] = end + type.quotes;
    return next;
  }

  #writeFields() {
    const json = this.#json;
    json[this.#length++] = comma;
    let separator = open;
    for (const { index, name, key } of fields) {
      const start = this.#starts[index] ?? missing;
      if (start === wrong)
        this.#omittedFields[name] = (this.#omittedFields[name] ?? 0) + 1;
      if (start <= missing) continue;
      json[this.#length++] = separator;
      separator = comma;
      this.#copy(key);
      this.#copy(this.#page, start, this.#ends[index]);
    }
    if (separator === open) json[this.#length++] = open;
    json[this.#length++] = close;
  }

  /** Faster for a few bytes than Buffer's own `copy`. */
  #copy(from: Buffer, start = 0, end = from.length) {
    const json = this.#json;
    let length = this.#length;
    for (let at = start; at < end; at += 1) json[length++] = from[at] ?? 0;
    this.#length = length;
  }

  /** @returns where the order ends. */
  #parseOrder(start: number) {
    // If this is within the order, what precedes it isn't JSON.
    const last = this.#page.indexOf("},{", start);
    const end = last < 0 ? this.#page.length : last + 1;
    const item = JSON.parse(this.#page.toString("utf8", start, end));
    const json = `,${orderJson(item, this.#omittedFields)}`;
    const written = this.#json.write(json, this.#length);
    if (written < json.length) throw new RangeError("The order became longer");
    this.#length += written;
    return end;
  }
}
