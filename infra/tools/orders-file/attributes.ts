import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { z } from "zod";
import { isInt64 } from "../../../shared/order.ts";

const text = z.string().refine((value) => value.isWellFormed());
const number = z.string().refine((value) => decimal(value) !== undefined);
const binary = z.instanceof(Uint8Array);
const setOf = <Element>(
  element: z.ZodType<Element>,
  identity: (element: Element) => unknown = String,
) =>
  z
    .array(element)
    .min(1)
    .refine((elements) => new Set(elements.map(identity)).size === elements.length);

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

const attributeSchema: z.ZodType = z
  .strictObject({
    S: text,
    N: number,
    B: binary,
    BOOL: z.boolean(),
    NULL: z.literal(true),
    SS: setOf(text),
    NS: setOf(number, decimal),
    BS: setOf(binary),
    L: z.lazy(() => z.array(attributeSchema)),
    M: z.lazy(() => z.record(text, attributeSchema)),
  })
  .partial()
  .refine((attribute) => Object.keys(attribute).length === 1);

/** Whether DynamoDB accepts this as an attribute. */
export function isAttribute(value: unknown): value is AttributeValue {
  return attributeSchema.safeParse(value).success;
}

/** Attributes in DynamoDB's own JSON, with binary as base64. Maps and sets are sorted. */
export function attributeJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(attributeJson);
  if (typeof value !== "object" || value === null) return value;
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

/** Attributes by their names; undefined are those that an item lacks, or is to lose. */
export type Attributes = Record<string, AttributeValue | undefined>;

/**
 * The names of the attributes in which two items differ, sorted: 1.50 is 1.5, and the elements of a
 * set have no order.
 */
export function differingAttributes(a: Attributes, b: Attributes): string[] {
  const names = Object.keys({ ...a, ...b }).sort();
  return names.filter((name) => comparable(a[name]) !== comparable(b[name]));
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
