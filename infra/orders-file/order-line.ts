import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { isDateTime, isInt64, type OrderItem, orderFields, orderStatuses } from "../../shared/order.ts";

/** A parsed line of an orders file: its order, or everything that is wrong with it. */
export type OrderLine = { item: OrderItem } | { problems: string[] };

/** A JSON number's own digits: beyond 2^53 its value is not what was written. */
class NumberText {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** The rule for a field: a description, and the attribute for a value, undefined when the value is not allowed. */
interface FieldType {
  description: string;
  attribute(value: unknown): AttributeValue | undefined;
}

const fieldTypes: Record<(typeof orderFields)[number]["type"], FieldType> = {
  int64: {
    description: "a 64-bit integer",
    attribute: (value) => (value instanceof NumberText && isInt64(value.digits) ? { N: value.digits } : undefined),
  },
  "date-time": {
    description: "an ISO 8601 date-time (years 0001 to 9999, Z or an offset of at most 18:00)",
    attribute: (value) => (typeof value === "string" && isDateTime(value) ? { S: value } : undefined),
  },
  boolean: {
    description: "true or false",
    attribute: (value) => (typeof value === "boolean" ? { BOOL: value } : undefined),
  },
};

const status: FieldType = {
  description: `one of ${orderStatuses.join(", ")}`,
  attribute: (value) => (orderStatuses.some((known) => known === value) ? { S: String(value) } : undefined),
};

function identifier(description: string): FieldType {
  return {
    description,
    attribute: (value) => (typeof value === "string" && /^[ -~]{0,100}$/.test(value) ? { S: value } : undefined),
  };
}

/** The fields that only a cancelled order has, so that an export does not lose who cancelled it and when. */
const cancellationFields: Record<string, FieldType> = {
  cancelledAt: fieldTypes["date-time"],
  cancelledBy: identifier("the id of an API key"),
  cancellationId: identifier("the id of a request"),
};

const fields: Record<string, FieldType> = {
  ...Object.fromEntries(orderFields.map(({ name, type }) => [name, fieldTypes[type]])),
  status,
  ...cancellationFields,
};

/**
 * Parses one line of an orders file (NDJSON): the fields of an Order (see `shared/openapi.yaml`), of which only `id` is
 * required, `status` (default: `pending`) and, for a cancelled order, who cancelled it and when. Integers are exact.
 */
export function parseOrderLine(line: string): OrderLine {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line, (_key: string, value: unknown, context?: { source?: string }) =>
      typeof value === "number" ? new NumberText(context?.source ?? "") : value,
    );
  } catch {
    return { problems: ["not JSON"] };
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed) || parsed instanceof NumberText) {
    return { problems: ["not a JSON object"] };
  }
  const members = Object.entries(parsed);
  const problems: string[] = [];
  const item: OrderItem = {};
  for (const [name, value] of members) {
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const attribute = type?.attribute(value);
    if (type === undefined) problems.push(`unknown field ${JSON.stringify(name)}`);
    else if (attribute === undefined) problems.push(`${name} is not ${type.description}`);
    else item[name] = attribute;
  }
  if (members.every(([name]) => name !== "id")) problems.push("id is missing");
  item["status"] ??= { S: "pending" };
  if (item["status"].S !== "cancelled") {
    const stray = Object.keys(cancellationFields).filter((name) => item[name]);
    problems.push(...stray.map((name) => `${name} is only for a cancelled order`));
  }
  if (problems.length === 0 && countNames(line) > members.length) problems.push("a field appears twice");
  return problems.length > 0 ? { problems } : { item };
}

/**
 * The line for an order, without the line ending. `parseOrderLine` turns it back into the same item.
 *
 * @throws Error saying why no line can hold this item.
 */
export function formatOrderLine(item: OrderItem): string {
  const members = Object.entries(item).map(([name, { N, S, BOOL }]) => {
    return [name, N ?? JSON.stringify(S ?? BOOL ?? null)] as const;
  });
  const names = Object.keys(fields);
  members.sort(([a], [b]) => names.indexOf(a) - names.indexOf(b));
  const line = `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
  const parsed = parseOrderLine(line);
  if (item["status"] === undefined) throw new Error("status is missing");
  if ("problems" in parsed) throw new Error(parsed.problems.join("; "));
  return line;
}

/** How often the text of a flat JSON object names a field; the parsed object keeps only the last of each name. */
function countNames(json: string): number {
  return [...json.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/g)].filter(([, colon]) => colon !== "").length;
}
