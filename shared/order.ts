import type { AttributeValue } from "@aws-sdk/client-dynamodb";

/**
 * The fields of an Order (its schema in openapi.yaml), in the order they are written. Table, wire
 * and file all use this list. An int64 is never a JavaScript number, which is exact only to 2^53.
 */
export const orderFields = [
  { name: "id", type: "int64" },
  { name: "petId", type: "int64" },
  { name: "quantity", type: "int64" },
  { name: "shipDate", type: "date-time" },
  { name: "complete", type: "boolean" },
] as const;
export type OrderFieldType = (typeof orderFields)[number]["type"];

/**
 * An order as the low-level client reads and writes it: a number is the text that DynamoDB sent.
 */
export type OrderItem = Record<string, AttributeValue>;

export const orderStatuses = ["pending", "shipped", "cancelled"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/**
 * Whether the text is an int64 in its canonical decimal form: no plus sign, no leading zero, no
 * `-0`, from -9223372036854775808 to 9223372036854775807.
 */
export function isInt64(text: string): boolean {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return false;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value;
}

/** The order id in `text`, or undefined when it is not a canonical int64 and so names no order. */
export function parseOrderId(text: string): bigint | undefined {
  return isInt64(text) ? BigInt(text) : undefined;
}

const anyMonth = /(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])/;
const longMonth = /(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31/;
const leapYear = /\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00/;
const day = `\\d{4}-(?:${anyMonth.source}|${longMonth.source})|(?:${leapYear.source})-02-29`;
const time = /(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?/;
const offset = /Z|[+-](?:(?:0\d|1[0-7]):[0-5]\d|18:00)/;

const dateTime = new RegExp(`^(?!0000)(?:${day})T${time.source}(?:${offset.source})$`);

/**
 * Whether the text is an RFC 3339 date-time (the `format: date-time`) that every client can hold:
 * a calendar date in the years 0001 to 9999, seconds from 00 to 59 with at most nine decimals, and
 * `Z` or an offset of at most 18:00 either way. Python's datetime has no year 0, Java's
 * OffsetDateTime no larger offset.
 */
export function isDateTime(text: string): boolean {
  return dateTime.test(text);
}

/** How often each field was left out of a list because its attribute has the wrong type. */
export type OmittedFields = Record<string, number>;

/**
 * The JSON text of an Order: the fields that the item has, in the order of `orderFields`. A number
 * goes from table to wire as text, so every int64 is exact. An attribute of the wrong type is left
 * out and counted in `omittedFields`.
 */
export function orderJson(item: OrderItem, omittedFields: OmittedFields): string {
  let json = "{";
  for (const { name, type } of orderFields) {
    const attribute = item[name];
    if (attribute === undefined) continue;
    const value = writers[type](attribute);
    if (value === undefined) omittedFields[name] = (omittedFields[name] ?? 0) + 1;
    else json += `${json === "{" ? "" : ","}"${name}":${value}`;
  }
  return `${json}}`;
}

const writers: Record<OrderFieldType, (attribute: AttributeValue) => string | undefined> =
  {
    int64: ({ N = "" }) => (isInt64(N) ? N : undefined),
    "date-time": ({ S = "" }) => (isDateTime(S) ? `"${S}"` : undefined),
    boolean: ({ BOOL }) => (BOOL === undefined ? undefined : String(BOOL)),
  };
