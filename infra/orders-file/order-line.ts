import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { visit } from "jsonc-parser";
import { isDateTime, isInt64, type OrderItem, orderFields, orderStatuses } from "../../shared/order.ts";
import { attributeJson, isAttribute, reviveBinary } from "./attribute-json.ts";
import { jsonText } from "./printable.ts";

/** A parsed line of an orders file: its order, or everything that is wrong with it, and the column where it is not JSON. */
export type OrderLine = { item: OrderItem } | { problems: string[]; column?: number | undefined };

/** The rule for a field: a description, and the attribute for a value, undefined when the value is not allowed. */
interface FieldType {
  description: string;
  attribute(value: unknown): AttributeValue | undefined;
}

const textField = (description: string, accepts: (text: string) => boolean): FieldType => ({
  description,
  attribute: (value) => (typeof value === "string" && accepts(value) ? { S: value } : undefined),
});
const isIdentifier = (text: string): boolean => /^[ -~]{0,100}$/.test(text);
const isStatus = (text: string): boolean => orderStatuses.some((status) => status === text);

const fieldTypes: Record<(typeof orderFields)[number]["type"], FieldType> = {
  int64: {
    description: "a 64-bit integer",
    attribute: (value) => (JSON.isRawJSON(value) && isInt64(value.rawJSON) ? { N: value.rawJSON } : undefined),
  },
  "date-time": textField("an ISO 8601 date-time (years 0001 to 9999, Z or an offset of at most 18:00)", isDateTime),
  boolean: {
    description: "true or false",
    attribute: (value) => (typeof value === "boolean" ? { BOOL: value } : undefined),
  },
};

/** The fields that only a cancelled order has, so that an export does not lose who cancelled it and when. */
const cancellationFields = new Map<string, FieldType>([
  ["cancelledAt", fieldTypes["date-time"]],
  ["cancelledBy", textField("the id of an API key", isIdentifier)],
  ["cancellationId", textField("the id of a request", isIdentifier)],
]);

const fields = new Map<string, FieldType>([
  ...orderFields.map(({ name, type }) => [name, fieldTypes[type]] as const),
  ["status", textField(`one of ${orderStatuses.join(", ")}`, isStatus)],
  ...cancellationFields,
]);

/** The member of a line with every attribute that no field can hold, in DynamoDB's own JSON. */
const otherAttributes = "otherAttributes";

/**
 * Parses one line of an orders file (NDJSON): the fields of an Order (see `shared/openapi.yaml`), of which only `id` is
 * required; `status` (default: `pending`; null for an order that has none); for a cancelled order, who cancelled it and
 * when; and `otherAttributes`. Integers are exact.
 */
export function parseOrderLine(line: string): OrderLine {
  let parsed: unknown;
  // The holder of the whole has a name, too.
  let names = -1;
  try {
    parsed = JSON.parse(line, function (this: unknown, name, value: unknown, context?: { source?: string }) {
      if (!Array.isArray(this)) names++;
      return typeof value === "number" ? JSON.rawJSON(context?.source ?? "") : reviveBinary(name, value);
    });
  } catch {
    return { problems: ["not JSON"], column: jsonErrorColumn(line) };
  }
  if (!isJsonObject(parsed)) return { problems: ["not a JSON object"] };
  const { [otherAttributes]: others = {}, ...members }: Record<string, unknown> = { ...parsed };
  const item = new Map<string, AttributeValue>();
  const problems: string[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (name === "status" && value === null) continue;
    const type = fields.get(name);
    const attribute = type?.attribute(value);
    if (type === undefined) problems.push(`unknown field ${jsonText(name)}`);
    else if (attribute === undefined) problems.push(`${name} is not ${type.description}`);
    else item.set(name, attribute);
  }
  if (!Object.hasOwn(members, "id")) problems.push("id is missing");
  const cancelled = item.get("status")?.S === "cancelled";
  const stray = cancelled ? [] : [...cancellationFields.keys()].filter((name) => item.has(name));
  problems.push(...stray.map((name) => `${name} is only for a cancelled order`));
  problems.push(...addOthers(item, others, cancelled));
  if (!Object.hasOwn(members, "status") && !item.has("status")) item.set("status", { S: "pending" });
  if (problems.length === 0 && countNames(line) > names) problems.push("a field appears twice");
  return problems.length > 0 ? { problems } : { item: Object.fromEntries(item) };
}

/** Adds the attributes that no field can hold, and gives what is wrong with them. */
function addOthers(item: Map<string, AttributeValue>, others: unknown, cancelled: boolean): string[] {
  if (!isJsonObject(others)) return [`${otherAttributes} is not a JSON object`];
  return Object.entries(others).flatMap(([name, value]) => {
    if (!isAttribute(value) || !name.isWellFormed()) {
      return [`${jsonText(name)} in ${otherAttributes} is not in DynamoDB's JSON`];
    }
    if (item.has(name) || fieldValue(name, value, cancelled) !== undefined) {
      return [`${name} belongs beside ${otherAttributes}`];
    }
    item.set(name, value);
    return [];
  });
}

/**
 * The line for an order, without the line ending, safe to print. `parseOrderLine` turns it back into the same item.
 *
 * @throws Error when no line can hold this item, because its id is not a 64-bit integer.
 */
export function formatOrderLine(item: OrderItem): string {
  const cancelled = item["status"]?.S === "cancelled";
  const members = new Map<string, unknown>();
  for (const name of fields.keys()) {
    const value = item[name] && fieldValue(name, item[name], cancelled);
    if (value !== undefined) members.set(name, value);
  }
  if (!members.has("id")) throw new Error("id is not a 64-bit integer");
  const others = Object.entries(item).filter(([name]) => !members.has(name));
  if (item["status"] === undefined) members.set("status", null);
  if (others.length > 0) members.set(otherAttributes, attributeJson(Object.fromEntries(others)));
  return jsonText(Object.fromEntries(members));
}

/** The value of this field in a line, undefined when the field can't hold the attribute. */
function fieldValue(name: string, { N, S, BOOL }: AttributeValue, cancelled: boolean): unknown {
  const value = N !== undefined && isInt64(N) ? JSON.rawJSON(N) : (S ?? BOOL);
  if (!cancelled && cancellationFields.has(name)) return undefined;
  return fields.get(name)?.attribute(value) && value;
}

function isJsonObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** How often a JSON text names a member; a parsed object keeps only the last of each name. */
function countNames(json: string): number {
  return [...json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"\s*(:?)/g)].filter(([, colon]) => colon !== "").length;
}

/** The column, from 1, of the first thing in the text that is not JSON; undefined if that is nested too deeply to find. */
function jsonErrorColumn(text: string): number | undefined {
  let column: number | undefined;
  // Only the first: all errors of a line that is binary take forty times its size.
  const onError = (_error: number, offset: number): void => {
    column ??= offset + 1;
  };
  try {
    visit(text, { onError }, { disallowComments: true });
  } catch {
    // It nests too deeply.
  }
  return column;
}
