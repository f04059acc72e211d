import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { isInt64, type OrderItem } from "../../shared/order.ts";

const numberPattern =
  /^(?<sign>-?)(?<whole>\d+)(?:\.(?<fraction>\d+))?(?:[Ee](?<power>[+-]?\d+))?$/;

/**
 * A number in one form, however it was written; undefined for one that DynamoDB does not accept.
 */
function decimal(number: string) {
  const parts = numberPattern.exec(number)?.groups;
  if (parts === undefined) return undefined;
  const { sign, whole, fraction = "", power = "0" } = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  if (digits === "") return "0";
  const exponent = digits.length - fraction.length + Number(power);
  const significant = digits.replace(/0+$/, "");
  const fits = significant.length <= 38 && exponent >= -129 && exponent <= 126;
  return fits ? `${sign}.${significant}E${exponent}` : undefined;
}

/** Whether DynamoDB accepts this as an attribute. */
export function isAttribute(value: unknown): value is AttributeValue {
  const [[type, content] = [], another] = Object.entries(Object(value));
  if (another) return false;
  switch (type) {
    case "S":
      return isText(content);
    case "N":
      return isText(content) && decimal(content) !== undefined;
    case "B":
      return content instanceof Uint8Array;
    case "BOOL":
      return typeof content === "boolean";
    case "NULL":
      return content === true;
    case "SS":
    case "NS":
    case "BS":
      return isSetOf(type.charAt(0), content);
    case "L":
      return Array.isArray(content) && content.every(isAttribute);
    case "M":
      return (
        isJsonObject(content) &&
        Object.keys(content).every(isText) &&
        Object.values(content).every(isAttribute)
      );
    default:
      return false;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed();
}

function isSetOf(type: string, value: unknown) {
  if (!Array.isArray(value) || value.length === 0) return false;
  const elements = value.map((element) => ({ [type]: element }));
  return (
    elements.every(isAttribute) && new Set(elements.map(comparable)).size === value.length
  );
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Attributes in DynamoDB's own JSON, with binary as base64. Maps and sets are sorted. */
export function attributeJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(attributeJson);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    const json = attributeJson(member);
    return [name, Array.isArray(json) && name !== "L" ? json.sort() : json];
  });
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** An attribute as the value that people and scripts know; null for none. */
export function plainValue(attribute: AttributeValue | undefined): unknown {
  if (attribute === undefined) return null;
  const { N, S, BOOL } = attribute;
  if (N !== undefined) return isInt64(N) ? BigInt(N) : N;
  return S ?? BOOL ?? attributeJson(attribute);
}

/**
 * Whether two attributes have the same value: 1.50 is 1.5, and the elements of a set have no order.
 */
export function sameAttribute(
  a: AttributeValue | undefined,
  b: AttributeValue | undefined,
): boolean {
  return comparable(a) === comparable(b);
}

/** The names of the attributes in which two items differ, sorted. */
export function differingAttributes(a: OrderItem, b: OrderItem): string[] {
  const names = Object.keys({ ...a, ...b }).sort();
  return names.filter((name) => !sameAttribute(a[name], b[name]));
}

function comparable(attribute: AttributeValue | undefined) {
  return JSON.stringify(attributeJson(attribute), (name, value: unknown) => {
    // Anywhere else, these names hold objects.
    if (name === "N" && typeof value === "string") return decimal(value);
    return name === "NS" && Array.isArray(value) ? value.map(decimal).sort() : value;
  });
}

/** Turns base64 into bytes where DynamoDB's own JSON has them, as a reviver of `JSON.parse`. */
export function reviveBinary(name: string, value: unknown): unknown {
  // Anywhere else, these names hold objects.
  if (name === "BS" && Array.isArray(value))
    return value.map((element) => reviveBinary("B", element));
  if (name !== "B" || typeof value !== "string") return value;
  const bytes = new Uint8Array(Buffer.from(value, "base64"));
  return attributeJson(bytes) === value ? bytes : value;
}
