import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { isDateTime, isInt64, orderStatuses } from "../../shared/order.ts";

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
    attribute: dateTime,
  },
  complete: {
    type: "true or false",
    attribute: (value) => (typeof value === "boolean" ? { BOOL: value } : undefined),
  },
  status: {
    type: `one of ${orderStatuses.join(", ")}`,
    attribute: (value) => (orderStatuses.some((status) => status === value) ? { S: String(value) } : undefined),
  },
  cancelledAt: { type: "an ISO 8601 date-time with an offset and a real calendar date", attribute: dateTime },
  cancelledBy: { type: "the id of an API key", attribute: plainText },
  cancellationId: { type: "the id of a request", attribute: plainText },
};

/** What an order holds about its cancellation, and no other order does: so an export does not lose who cancelled it. */
const ofCancellation = ["cancelledAt", "cancelledBy", "cancellationId"];

/**
 * Reads one line of an orders file (NDJSON): the fields of an Order (contract, section 2), of which only `id` is
 * required, `status`, which is `pending` when the line has none, and for a cancelled order what is known about that.
 * Integers are exact to the last digit.
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
  const status = row["status"] ?? { S: "pending" };
  if (status.S !== "cancelled") {
    problems.push(...ofCancellation.filter((name) => row[name]).map((name) => `${name} is only for a cancelled order`));
  }
  if (problems.length === 0 && countNames(line) > given.length) problems.push("a field is given twice");
  return problems.length > 0 ? { problems } : { row: { ...row, status } };
}

/**
 * The line of an order, without the line's end: the reverse of `parseOrderLine`, which gives this very row again.
 *
 * @throws Error saying why there is no such line.
 */
export function formatOrderLine(row: OrderRow): string {
  const members = Object.entries(row).map(([name, { N, S, BOOL }]) => {
    return [name, N ?? JSON.stringify(S ?? BOOL ?? null)] as const;
  });
  const order = Object.keys(fields);
  members.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const line = `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
  const parsed = parseOrderLine(line);
  if (row["status"] === undefined) throw new Error("it has no status");
  if ("problems" in parsed) throw new Error(parsed.problems.join("; "));
  return line;
}

/** How often the text of a flat JSON object names a field; the parsed object keeps only the last of each name. */
function countNames(json: string): number {
  return [...json.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/g)].filter(([, colon]) => colon !== "").length;
}

function dateTime(value: unknown): AttributeValue | undefined {
  return typeof value === "string" && isDateTime(value) ? { S: value } : undefined;
}

function plainText(value: unknown): AttributeValue | undefined {
  return typeof value === "string" && /^[ -~]{0,100}$/.test(value) ? { S: value } : undefined;
}

function int64(value: unknown): AttributeValue | undefined {
  return value instanceof NumberText && isInt64(value.digits) ? { N: value.digits } : undefined;
}
