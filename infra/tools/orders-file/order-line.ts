import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { isApiKeyId } from "../../../shared/api-keys.ts";
import {
  isDateTime,
  isInt64,
  type OrderFieldType,
  type OrderItem,
  orderFields,
  orderStatuses,
} from "../../../shared/order.ts";
import { dateTimeHint, jsonText } from "../terminal/text.ts";
import { attributeJson, isAttribute, plainValue, reviveBinary } from "./attributes.ts";
import { excessOf, isTooLarge } from "./item-limits.ts";

/** A parsed line of an orders file: its order, or everything that is wrong with it, for people. */
type OrderLine = { item: OrderItem } | { problems: string[] };

/** The rule for a field's values, as attributes. */
interface FieldType {
  description: string;
  accepts(attribute: AttributeValue): boolean;
}

const textField = (
  description: string,
  accepts: (text: string) => boolean,
): FieldType => ({
  description,
  accepts: ({ S = "" }) => accepts(S),
});

const fieldTypes: Record<OrderFieldType, FieldType> = {
  int64: {
    description: "a 64-bit integer",
    accepts: ({ N = "" }) => isInt64(N),
  },
  "date-time": textField(
    "an RFC 3339 date-time (years 0001 to 9999, Z or an offset of at most 18:00)",
    isDateTime,
  ),
  boolean: {
    description: "true or false",
    accepts: ({ BOOL }) => BOOL !== undefined,
  },
};

/** The fields of a line: those of an Order, its status, and who cancelled it, and when. */
const lineFields = new Map<string, FieldType>([
  ...orderFields.map(({ name, type }) => [name, fieldTypes[type]] as const),
  [
    "status",
    textField(`one of ${orderStatuses.join(", ")}`, (text) =>
      orderStatuses.some((status) => status === text),
    ),
  ],
  ["cancelledAt", fieldTypes["date-time"]],
  ["cancelledBy", textField("the id of an API key", isApiKeyId)],
  [
    "cancellationId",
    textField("the id of a request", (text) => /^[!-~]{1,100}$/.test(text)),
  ],
]);

/** The member of a line that has all other attributes, in DynamoDB's own JSON. */
const otherAttributes = "otherAttributes";

/**
 * Parses one line of an orders file (NDJSON). Integers are exact. A line has
 * - the fields of an Order (see `shared/openapi.yaml`), of which only `id` is required
 * - `status` (default: `pending`; null for an order that has none)
 * - who cancelled the order, and when
 * - `otherAttributes`
 */
export function parseOrderLine(line: string): OrderLine {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line, reviveExactly);
  } catch (error) {
    return { problems: [`not JSON: ${String(error).replace("SyntaxError: ", "")}`] };
  }
  if (!isJsonObject(parsed)) return { problems: ["not a JSON object"] };
  const repeated = repeatedName(line);
  if (repeated !== undefined)
    return { problems: [`${jsonText(repeated)} occurs twice in an object`] };
  const { [otherAttributes]: others = {}, ...members } = parsed;
  if (!isJsonObject(others))
    return { problems: [`${otherAttributes} is not a JSON object`] };
  const excess = excessOf(others);
  if (excess) return { problems: [`${otherAttributes} ${excess}`] };
  const item: OrderItem = {};
  const problems = [
    ...Object.entries(members).flatMap(([name, value]) => addField(item, name, value)),
    ...Object.entries(others).flatMap(([name, value]) =>
      addOther(item, members, name, value),
    ),
  ];
  if (members["id"] === undefined) problems.push("id is missing");
  if (problems.length > 0) return { problems };
  if (members["status"] === undefined) item["status"] ??= { S: "pending" };
  return isTooLarge(item)
    ? { problems: ["the order is larger than DynamoDB's limit of 400 KB"] }
    : { item };
}

/** A name that an object in valid JSON has twice, of which `JSON.parse` keeps only the last. */
function repeatedName(json: string): string | undefined {
  const objects: Set<string>[] = [];
  const parts = json.matchAll(/[{}]|("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g);
  for (const [part, text = "", colon] of parts) {
    if (part === "{") objects.push(new Set());
    else if (part === "}") objects.pop();
    else if (colon) {
      const name = JSON.parse(text);
      const names = objects.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}

/** Makes bigints of int64s, and bytes of base64, as a reviver of `JSON.parse`. */
function reviveExactly(name: string, part: unknown, { source = "" } = {}) {
  if (isInt64(source)) return BigInt(source);
  return reviveBinary(name, part);
}

/** Adds the attribute for a field of a line, and returns what is wrong with it. */
function addField(item: OrderItem, name: string, value: unknown) {
  if (name === "status" && value === null) return [];
  const type = lineFields.get(name);
  if (type === undefined) return [`unknown field ${jsonText(name)}`];
  const attribute = toAttribute(value);
  if (!type.accepts(attribute)) {
    const hint = dateTimeHint(attribute.S ?? "");
    return [`${name} ${hint ?? `is not ${type.description}`}`];
  }
  item[name] = attribute;
  return [];
}

/** The attribute for a field's value; NULL, which no field accepts, for any other. */
function toAttribute(value: unknown): AttributeValue {
  if (typeof value === "string") return { S: value };
  if (typeof value === "boolean") return { BOOL: value };
  return typeof value === "bigint" ? { N: String(value) } : { NULL: true };
}

/** Adds one of the other attributes of a line, and returns what is wrong with it. */
function addOther(item: OrderItem, members: object, name: string, value: unknown) {
  if (Object.hasOwn(members, name)) return [`${name} is in ${otherAttributes}, too`];
  // The SDK would lose it.
  if (name === "__proto__") return [`${name} in ${otherAttributes} can't be imported`];
  if (!isAttribute(value) || !name.isWellFormed())
    return [`${jsonText(name)} in ${otherAttributes} is not in DynamoDB's JSON`];
  item[name] = value;
  return [];
}

/**
 * The line for an order, without the line ending, safe to print. `parseOrderLine` turns it back
 * into the same item.
 *
 * @returns undefined when no line can hold this item: its id is not a 64-bit integer, or it has an
 * attribute `__proto__`, whose value the SDK has lost.
 */
export function formatOrderLine(item: OrderItem): string | undefined {
  const members = new Map<string, unknown>();
  for (const [name, { accepts }] of lineFields) {
    const attribute = item[name];
    if (attribute && accepts(attribute)) members.set(name, plainValue(attribute));
  }
  if (!members.has("id") || Object.hasOwn(item, "__proto__")) return undefined;
  const others = Object.entries(item).filter(([name]) => !members.has(name));
  if (item["status"] === undefined) members.set("status", null);
  if (others.length > 0)
    members.set(otherAttributes, attributeJson(Object.fromEntries(others)));
  return jsonText(Object.fromEntries(members));
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
