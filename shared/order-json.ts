import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import {
  isDateTime,
  isInt64,
  type OrderFieldType,
  type OrderItem,
  orderFields,
} from "./order.ts";

/** How often each field was left out of a list because its attribute has the wrong type. */
export type OmittedFields = Record<string, number>;

/**
 * The JSON text of an Order: the fields that the item has, in the order of `orderFields`. A number
 * goes from table to wire as text, so every int64 is exact. An attribute of the wrong type is left
 * out and counted in `omittedFields`.
 */
export function orderJson(item: OrderItem, omittedFields: OmittedFields): string {
  let json = "{";
  for (const { name, nameJson, valueJson } of fields) {
    const attribute = item[name];
    if (attribute === undefined) continue;
    const value = valueJson(attribute);
    if (value === undefined) omittedFields[name] = (omittedFields[name] ?? 0) + 1;
    else json += (json === "{" ? nameJson : `,${nameJson}`) + value;
  }
  return `${json}}`;
}

const writers: Record<OrderFieldType, (attribute: AttributeValue) => string | undefined> =
  {
    int64: ({ N }) => (N !== undefined && isInt64(N) ? N : undefined),
    "date-time": ({ S }) => (S !== undefined && isDateTime(S) ? `"${S}"` : undefined),
    boolean: ({ BOOL }) => (BOOL === undefined ? undefined : String(BOOL)),
  };
const fields = orderFields.map(({ name, type }) => ({
  name,
  nameJson: `"${name}":`,
  valueJson: writers[type],
}));
