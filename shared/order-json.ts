import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { isDateTime, isInt64 } from "./order.ts";
import type { OrderItem } from "./orders-table.ts";

/** How often each field was left out of a list because its attribute is not of the contract's type. */
export type LeftOut = Record<string, number>;

/**
 * The JSON text of an Order (contract, section 2): the fields that the item has, in the contract's order. A number
 * goes from table to wire as the text it is, so every int64 is exact. An attribute of another type is left out, and
 * counted in `leftOut`.
 */
export function orderJson(item: OrderItem, leftOut: LeftOut): string {
  let json = "{";
  for (const { field, name, valueJson } of fields) {
    const attribute = item[field];
    if (attribute === undefined) continue;
    const value = valueJson(attribute);
    if (value === undefined) leftOut[field] = (leftOut[field] ?? 0) + 1;
    else json += (json === "{" ? name : `,${name}`) + value;
  }
  return `${json}}`;
}

/** The fields of an Order in the contract's order, each with its name as JSON and what writes its value. */
const fields = [
  { field: "id", name: '"id":', valueJson: integerJson },
  { field: "petId", name: '"petId":', valueJson: integerJson },
  { field: "quantity", name: '"quantity":', valueJson: integerJson },
  { field: "shipDate", name: '"shipDate":', valueJson: dateTimeJson },
  { field: "complete", name: '"complete":', valueJson: booleanJson },
];

function integerJson({ N }: AttributeValue): string | undefined {
  return N !== undefined && isInt64(N) ? N : undefined;
}

function dateTimeJson({ S }: AttributeValue): string | undefined {
  return S !== undefined && isDateTime(S) ? `"${S}"` : undefined;
}

function booleanJson({ BOOL }: AttributeValue): string | undefined {
  return BOOL === undefined ? undefined : String(BOOL);
}
