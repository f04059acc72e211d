import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { visit } from "jsonc-parser";
import {
  isDateTime,
  isInt64,
  type OrderItem,
  orderFields,
  orderStatuses,
} from "../../shared/order.ts";
import { jsonText } from "../terminal/printable.ts";
import { attributeJson, isAttribute, reviveBinary } from "./attribute-json.ts";

/**
 * A parsed line of an orders file: its order, or everything that is wrong with it, and the column
 * where it is not JSON.
 */
export type OrderLine = { item: OrderItem } | { problems: Problem[]; column?: number | undefined };

/** A mistake in a line, for people. Lines with the same mistake have the same `kind`. */
export interface Problem {
  text: string;
  kind: string;
}

/** A problem of a kind; its text may say more than the kind, in the place of its dots. */
export function problem(kind: string, text = kind): Problem {
  return { kind, text };
}

/**
 * The rule for a field: a description, and the attribute for a value, undefined when the value is
 * not allowed.
 */
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

/**
 * The fields that only a cancelled order has, so that an export does not lose who cancelled it and
 * when.
 */
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
 * Parses one line of an orders file (NDJSON): the fields of an Order (see `shared/openapi.yaml`),
 * of which only `id` is required; `status` (default: `pending`; null for an order that has none);
 * for a cancelled order, who cancelled it and when; and `otherAttributes`. Integers are exact.
 */
export function parseOrderLine(line: string): OrderLine {
  const { repeated, column } = inspect(line);
  const parsed = parseExactly(line);
  if (parsed === undefined) return { problems: [problem("not JSON")], column };
  if (!isJsonObject(parsed.value)) return { problems: [problem("not a JSON object")] };
  const { [otherAttributes]: others = {}, ...members }: Record<string, unknown> = {
    ...parsed.value,
  };
  const item = new Map<string, AttributeValue>();
  const problems = [
    ...addFields(item, members),
    ...addOthers(item, others, item.get("status")?.S === "cancelled"),
  ];
  if (!Object.hasOwn(members, "status") && !item.has("status")) {
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

/** Adds the attributes for the fields of a line, and gives what is wrong with them. */
function addFields(item: Map<string, AttributeValue>, members: Record<string, unknown>): Problem[] {
  const problems = Object.entries(members).flatMap(([name, value]) => addField(item, name, value));
  if (!Object.hasOwn(members, "id")) problems.push(problem("id is missing"));
  if (item.get("status")?.S === "cancelled") return problems;
  const stray = [...cancellationFields.keys()].filter((name) => item.has(name));
  return [...problems, ...stray.map((name) => problem(`${name} is only for a cancelled order`))];
}

function addField(item: Map<string, AttributeValue>, name: string, value: unknown): Problem[] {
  if (name === "status" && value === null) return [];
  const type = fields.get(name);
  if (type === undefined) return [problem("unknown field ...", `unknown field ${jsonText(name)}`)];
  const attribute = type.attribute(value);
  if (attribute === undefined) return [problem(`${name} is not ${type.description}`)];
  item.set(name, attribute);
  return [];
}

/** The fields that an older export, from before they were added, has in `otherAttributes`. */
const mayBeElsewhere = new Set(
  orderFields.map(({ name }): string => name).filter((name) => name !== "id"),
);

/** Adds the attributes that no field can hold, and gives what is wrong with them. */
function addOthers(
  item: Map<string, AttributeValue>,
  others: unknown,
  cancelled: boolean,
): Problem[] {
  if (!isJsonObject(others)) return [problem(`${otherAttributes} is not a JSON object`)];
  return Object.entries(others).flatMap(([name, value]) => {
    if (!isAttribute(value) || !name.isWellFormed()) {
      const mistake = `in ${otherAttributes} is not in DynamoDB's JSON`;
      return [problem(`... ${mistake}`, `${jsonText(name)} ${mistake}`)];
    }
    const isMisplaced =
      item.has(name) ||
      (!mayBeElsewhere.has(name) && fieldValue(name, value, cancelled) !== undefined);
    if (isMisplaced) return [problem(`${name} belongs beside ${otherAttributes}`)];
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
  const cancelled = item["status"]?.S === "cancelled";
  const members = new Map<string, unknown>();
  for (const name of fields.keys()) {
    const value = item[name] && fieldValue(name, item[name], cancelled);
    if (value !== undefined) members.set(name, value);
  }
  if (!members.has("id")) return undefined;
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
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
  );
}

/**
 * Reads a line as text: the first name that an object in it has twice (parsed, the object keeps
 * only the last), and the column, from 1, of the first thing that is not JSON. Neither is found
 * where the line nests too deeply.
 */
function inspect(line: string): { repeated?: string; column?: number } {
  const found: ReturnType<typeof inspect> = {};
  const objects: Set<string>[] = [];
  const onObjectProperty = (name: string): void => {
    const names = objects.at(-1);
    if (names?.has(name)) found.repeated ??= name;
    names?.add(name);
  };
  // Only the first: all errors of a line that is binary take forty times its size.
  const onError = (_error: number, offset: number): void => {
    found.column ??= offset + 1;
  };
  const onObjectBegin = (): void => void objects.push(new Set());
  const onObjectEnd = (): void => void objects.pop();
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
