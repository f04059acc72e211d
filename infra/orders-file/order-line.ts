import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { visit } from "jsonc-parser";
import {
  isDateTime,
  isInt64,
  type OrderFieldType,
  type OrderItem,
  orderFields,
  orderStatuses,
} from "../../shared/order.ts";
import { jsonText } from "../terminal/printable.ts";
import { attributeJson, isAttribute, reviveBinary } from "./attribute-json.ts";

/** A parsed line of an orders file: its order, or everything that is wrong with it. */
export type OrderLine = { item: OrderItem } | LineProblems;

export interface LineProblems {
  problems: Problem[];
  /** The column, from 1, where the line stops being JSON. */
  column?: number | undefined;
}

/** A mistake in a line, for people. Lines with the same mistake have the same `kind`. */
interface Problem {
  text: string;
  kind: string;
}

/** Makes a problem. Where `kind` has dots, `text` has the details. */
export function problem(kind: string, text = kind): Problem {
  return { kind, text };
}

/** The rule for a field's values. */
interface FieldType {
  description: string;
  /** The attribute for a value, undefined when the value is not allowed. */
  attribute(value: unknown): AttributeValue | undefined;
}

const textField = (description: string, accepts: (text: string) => boolean): FieldType => ({
  description,
  attribute: (value) => (typeof value === "string" && accepts(value) ? { S: value } : undefined),
});
const isIdentifier = (text: string): boolean => /^[ -~]{0,100}$/.test(text);
const isStatus = (text: string): boolean => orderStatuses.some((status) => status === text);

const fieldTypes: Record<OrderFieldType, FieldType> = {
  int64: {
    description: "a 64-bit integer",
    attribute: (value) =>
      JSON.isRawJSON(value) && isInt64(value.rawJSON) ? { N: value.rawJSON } : undefined,
  },
  "date-time": textField(
    "an ISO 8601 date-time (years 0001 to 9999, Z or an offset of at most 18:00)",
    isDateTime,
  ),
  boolean: {
    description: "true or false",
    attribute: (value) => (typeof value === "boolean" ? { BOOL: value } : undefined),
  },
};

/** The fields that only a cancelled order has: an export keeps who cancelled it, and when. */
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

/** The member of a line that has the attributes no field can hold, in DynamoDB's own JSON. */
const otherAttributes = "otherAttributes";

/**
 * Parses one line of an orders file (NDJSON). Integers are exact. A line has
 * - the fields of an Order (see `shared/openapi.yaml`), of which only `id` is required
 * - `status` (default: `pending`; null for an order that has none)
 * - for a cancelled order, who cancelled it and when
 * - `otherAttributes`
 */
export function parseOrderLine(line: string): OrderLine {
  const { repeated, column } = inspect(line);
  const parsed = parseExactly(line);
  if (parsed === undefined) return { problems: [problem("not JSON")], column };
  if (!isJsonObject(parsed.value)) return { problems: [problem("not a JSON object")] };
  const members = new Map<string, unknown>(Object.entries(parsed.value));
  const item = new Map<string, AttributeValue>();
  const problems = addFields(item, members);
  problems.push(...addOthers(item, members.get(otherAttributes)));
  // `otherAttributes` may hold a status that the field can't.
  if (!members.has("status") && !item.has("status")) {
    item.set("status", { S: "pending" });
  }
  if (repeated !== undefined) {
    problems.push(problem("... appears twice", `${jsonText(repeated)} appears twice`));
  }
  return problems.length > 0 ? { problems } : { item: Object.fromEntries(item) };
}

/** Parses JSON, its numbers kept as their digits; undefined when it is malformed. */
function parseExactly(line: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(line, (name, part: unknown, context?: { source?: string }) =>
      typeof part === "number" ? JSON.rawJSON(context?.source ?? "") : reviveBinary(name, part),
    );
    return { value };
  } catch {
    return undefined;
  }
}

/** Adds the attributes for the fields of a line, and returns the problems. */
function addFields(item: Map<string, AttributeValue>, members: Map<string, unknown>): Problem[] {
  const problems = [...members].flatMap(([name, value]) => addField(item, name, value));
  if (!members.has("id")) problems.push(problem("id is missing"));
  if (item.get("status")?.S === "cancelled") return problems;
  const stray = [...cancellationFields.keys()].filter((name) => item.has(name));
  return [...problems, ...stray.map((name) => problem(`${name} is only for a cancelled order`))];
}

function addField(item: Map<string, AttributeValue>, name: string, value: unknown): Problem[] {
  if (name === otherAttributes || (name === "status" && value === null)) return [];
  const type = fields.get(name);
  if (type === undefined) return [problem("unknown field ...", `unknown field ${jsonText(name)}`)];
  const attribute = type.attribute(value);
  if (attribute === undefined) return [problem(`${name} is not ${type.description}`)];
  item.set(name, attribute);
  return [];
}

/** Fields that an older export may have in `otherAttributes`, because they were added later. */
const laterFields = new Set(
  orderFields.map(({ name }): string => name).filter((name) => name !== "id"),
);

/** Adds the attributes that no field can hold, and returns the problems. */
function addOthers(item: Map<string, AttributeValue>, others: unknown = {}): Problem[] {
  const isCancelled = item.get("status")?.S === "cancelled";
  if (!isJsonObject(others)) return [problem(`${otherAttributes} is not a JSON object`)];
  return Object.entries(others).flatMap(([name, value]) => {
    if (!isAttribute(value) || !name.isWellFormed()) {
      const mistake = `in ${otherAttributes} is not in DynamoDB's JSON`;
      return [problem(`... ${mistake}`, `${jsonText(name)} ${mistake}`)];
    }
    const fitsField = fieldValue(name, value, isCancelled) !== undefined;
    const isMisplaced = fitsField && !laterFields.has(name);
    if (isMisplaced || item.has(name))
      return [problem(`${name} belongs beside ${otherAttributes}`)];
    item.set(name, value);
    return [];
  });
}

/**
 * The line for an order, without the line ending, safe to print. `parseOrderLine` turns it back
 * into the same item.
 *
 * @returns undefined when no line can hold this item, because its id is not a 64-bit integer.
 */
export function formatOrderLine(item: OrderItem): string | undefined {
  const isCancelled = item["status"]?.S === "cancelled";
  const members = new Map<string, unknown>();
  for (const name of fields.keys()) {
    const value = fieldValue(name, item[name], isCancelled);
    if (value !== undefined) members.set(name, value);
  }
  if (!members.has("id")) return undefined;
  const others = Object.entries(item).filter(([name]) => !members.has(name));
  if (item["status"] === undefined) members.set("status", null);
  if (others.length > 0) members.set(otherAttributes, attributeJson(Object.fromEntries(others)));
  return jsonText(Object.fromEntries(members));
}

/** The value of this field in a line, undefined when the field can't hold the attribute. */
function fieldValue(
  name: string,
  attribute: AttributeValue | undefined,
  isCancelled: boolean,
): unknown {
  if (!isCancelled && cancellationFields.has(name)) return undefined;
  const { N, S, BOOL } = attribute ?? {};
  const value = N !== undefined && isInt64(N) ? JSON.rawJSON(N) : (S ?? BOOL);
  const isAllowed = fields.get(name)?.attribute(value) !== undefined;
  return isAllowed ? value : undefined;
}

function isJsonObject(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
  );
}

/** Mistakes that parsing alone does not show. */
interface Inspection {
  /** The first name that an object has twice: parsed, it keeps only the last. */
  repeated?: string;
  /** The column of the first character that is not JSON. */
  column?: number;
}

/**
 * Finds a repeated name, and where a line stops being JSON, neither of which `JSON.parse` reports.
 * Finds nothing where the line nests too deeply.
 */
function inspect(line: string): Inspection {
  const found: Inspection = {};
  const objects: Set<string>[] = [];
  const onObjectProperty = (name: string): void => {
    const names = objects.at(-1);
    if (names?.has(name)) found.repeated ??= name;
    names?.add(name);
  };
  // Keeps only the first: the errors of a binary line take forty times its size in memory.
  const onError = (_error: number, offset: number): void => {
    found.column ??= offset + 1;
  };
  const onObjectBegin = (): void => {
    objects.push(new Set());
  };
  const onObjectEnd = (): void => {
    objects.pop();
  };
  try {
    visit(
      line.trimEnd(),
      { onObjectBegin, onObjectProperty, onObjectEnd, onError },
      { disallowComments: true },
    );
  } catch {
    // It nests too deeply.
  }
  return found;
}
