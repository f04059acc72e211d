import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { isDateTime, isInt64, orderStatuses } from "../shared/order.ts";

/** An order as the table holds it. */
export type OrderRow = Record<string, AttributeValue>;

/** A line of an orders file: its order, or every reason why it has none. */
export type OrderLine = { row: OrderRow } | { problems: string[] };

/** A JSON number's own digits: beyond 2^53 its value is not what was written. */
class NumberText {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** What each field of a line may hold, and how its value is an attribute. Undefined: it may not hold that. */
const fields: Record<string, { type: string; attribute: (value: unknown) => AttributeValue | undefined }> = {
  id: { type: "an int64", attribute: int64 },
  petId: { type: "an int64", attribute: int64 },
  quantity: { type: "an int64", attribute: int64 },
  shipDate: {
    type: "an ISO 8601 date-time with an offset and a real calendar date",
    attribute: (value) => (typeof value === "string" && isDateTime(value) ? { S: value } : undefined),
  },
  complete: {
    type: "true or false",
    attribute: (value) => (typeof value === "boolean" ? { BOOL: value } : undefined),
  },
  status: {
    type: `one of ${orderStatuses.join(", ")}`,
    attribute: (value) => (orderStatuses.some((status) => status === value) ? { S: String(value) } : undefined),
  },
};

/**
 * Reads one line of an orders file (NDJSON): the fields of an Order (contract, section 2), of which only `id` is
 * required, and `status`, which is `pending` when the line has none. Integers are exact to the last digit.
 */
export function parseOrderLine(line: string): OrderLine {
  let value: unknown;
  try {
    value = JSON.parse(line, (_key: string, each: unknown, context?: { source?: string }) =>
      typeof each === "number" ? new NumberText(context?.source ?? "") : each,
    );
  } catch {
    return { problems: ["it is not JSON"] };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof NumberText) {
    return { problems: ["it is not a JSON object"] };
  }
  const given = Object.entries(value);
  const problems: string[] = [];
  const row: OrderRow = {};
  for (const [name, each] of given) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const attribute = field?.attribute(each);
    if (field === undefined) problems.push(`${JSON.stringify(name)} is no field of an order`);
    else if (attribute === undefined) problems.push(`${name} is not ${field.type}`);
    else row[name] = attribute;
  }
  if (given.every(([name]) => name !== "id")) problems.push("id is missing");
  if (problems.length === 0 && countNames(line) > given.length) problems.push("a field is given twice");
  return problems.length > 0 ? { problems } : { row: { ...row, status: row["status"] ?? { S: "pending" } } };
}

/**
 * The line of an order, without the line's end: the reverse of `parseOrderLine`. Attributes that no line has, like
 * those of a cancellation, are left out.
 *
 * @throws Error when an attribute holds what no line may hold.
 */
export function formatOrderLine(row: OrderRow): string {
  const members = Object.entries(fields).flatMap(([name, { type, attribute }]) => {
    const given = row[name];
    if (given === undefined) return [];
    const value = given.N === undefined ? (given.S ?? given.BOOL) : new NumberText(given.N);
    if (attribute(value) === undefined) throw new Error(`The ${name} of an order is not ${type}`);
    return [`${JSON.stringify(name)}:${value instanceof NumberText ? value.digits : JSON.stringify(value)}`];
  });
  return `{${members.join(",")}}`;
}

/** How often the text of a flat JSON object names a field; the parsed object keeps only the last of each name. */
function countNames(json: string): number {
  return [...json.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/g)].filter(([, colon]) => colon !== "").length;
}

function int64(value: unknown): AttributeValue | undefined {
  return value instanceof NumberText && isInt64(value.digits) ? { N: value.digits } : undefined;
}
