import {
  isDateTime,
  isInt64,
  type OmittedFields,
  type OrderFieldType,
  type OrderItem,
  orderFields,
  orderJson,
} from "./order.ts";

// The bytes of a page become the bytes of a list in one pass. Parsing them would take twice the CPU.
// An order as DynamoDB sends it, the first line, becomes the second:
//
// {"complete":{"BOOL":true},"quantity":{"S":"1"},"id":{"N":"42"}}
// {"id":42,"complete":true}
//
// Attributes may be missing, of a wrong type, and in any order: DynamoDB documents none. A page with
// anything else, such as an escape, a list or white space, is left to the SDK.

/** The orders of a page. */
export interface ListPage {
  /** Their JSON, with a comma before each order. */
  json: Buffer;
  orders: number;
  omittedFields: OmittedFields;
}

/** Writes a page of items. */
export function pageOf(items: OrderItem[]): ListPage {
  const omittedFields: OmittedFields = {};
  const json = items.map((item) => `,${orderJson(item, omittedFields)}`);
  return { json: Buffer.from(json.join("")), orders: items.length, omittedFields };
}

/**
 * Writes a page from its bytes.
 *
 * @param page from the bracket before the first order to the end of the last one.
 * @throws an error unless that is orders with a comma between them, written as DynamoDB writes them.
 */
export function writePage(page: Buffer): ListPage {
  return new PageWriter(page).write();
}

/** How a page writes the attributes of a type: what is before and after each value. */
interface AttributeType {
  before: Buffer;
  after: Buffer;
  /** How many quotes on each side of a value belong to its JSON. */
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
    isValue: (page, start) => isAt(page, start, trueEnd) || isAt(page, start, falseEnd),
  },
};
const trueEnd = Buffer.from("true}");
const falseEnd = Buffer.from("false}");

/** No field's type, but a likely wrong one. */
const nullType: AttributeType = {
  before: Buffer.from('{"NULL":'),
  after: Buffer.from("}"),
  quotes: 0,
  isValue: (page, start) => isAt(page, start, trueEnd),
};
const allTypes = [...Object.values(types), nullType];

const fields = orderFields.map(({ name, type }, index) => ({
  index,
  name,
  key: Buffer.from(`"${name}":`),
  type: types[type],
}));

const [comma = 0, open = 0, close = 0, zero = 0, nine = 0] = Buffer.from(",{}09");

/** The fields whose name begins with this byte. */
const fieldsOf = Array.from({ length: 256 }, (_, byte) =>
  fields.filter(({ key }) => key[1] === byte),
);

function isAt(page: Buffer, at: number, text: Buffer) {
  for (let index = 0; index < text.length; index += 1)
    if (page[at + index] !== text[index]) return false;
  return true;
}

/** The type of the attribute that begins here, which is probably the field's. */
function typeAt(page: Buffer, at: number, usual: AttributeType) {
  if (isAt(page, at, usual.before)) return usual;
  return allTypes.find(({ before }) => isAt(page, at, before));
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

/** In `#starts`, instead of where a value begins. */
const missing = 0;
const wrong = -1;

class PageWriter {
  readonly #page: Buffer;
  /** Long enough: a usual order is no longer here than in the page. */
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

  write(): ListPage {
    let orders = 0;
    for (let at = 1; at < this.#page.length; orders += 1)
      at = this.#writeOrder(orders === 0 ? at : this.#after(comma, at));
    const json = this.#json.subarray(0, this.#length);
    return { json, orders, omittedFields: this.#omittedFields };
  }

  #after(byte: number, at: number) {
    if (this.#page[at] !== byte) throw new SyntaxError("Not a usual order");
    return at + 1;
  }

  /** @returns where the order ends. */
  #writeOrder(start: number) {
    this.#starts.fill(missing);
    let at = this.#findValue(this.#after(open, start));
    while (this.#page[at] === comma) at = this.#findValue(at + 1);
    const end = this.#after(close, at);
    this.#writeFields();
    return end;
  }

  /**
   * Finds the value of the attribute that begins here.
   *
   * @returns where the attribute ends.
   */
  #findValue(at: number) {
    const page = this.#page;
    const field = fieldsOf[page[at + 1] ?? 0]?.find(({ key }) => isAt(page, at, key));
    const type = field && typeAt(page, at + field.key.length, field.type);
    if (!type) throw new SyntaxError("Not a usual attribute");
    const start = at + field.key.length + type.before.length;
    const end = find(page, start, type.after[0]);
    const next = end + type.after.length;
    const isValue = type.isValue(page, start, end);
    // A wrong value is left out, but must be JSON.
    const isUsual = isValue
      ? isAt(page, end, type.after)
      : /^"[ -[\]-\xff]*"\}$/.test(page.toString("latin1", start - 1, next));
    if (!isUsual) throw new SyntaxError("Not a usual value");
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
}
