import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { isInt64, type OrderItem } from "../../shared/order.ts";

/** An attribute of an order, for people and for scripts. */
export interface OrderField {
  name: string;
  text: string;
  json: unknown;
}

const order = ["id", "petId", "quantity", "shipDate", "complete", "status", "cancelledAt", "cancelledBy"];

/** Every attribute of an order: the ones we know in their order, then whatever else there is. Integers stay exact. */
export function orderFields(item: OrderItem): OrderField[] {
  const others = Object.keys(item).filter((name) => !order.includes(name));
  return [...order, ...others.sort()].flatMap((name) => {
    const attribute = item[name];
    return attribute === undefined ? [] : [{ name, ...attributeValue(attribute) }];
  });
}

function attributeValue(attribute: AttributeValue): { text: string; json: unknown } {
  const { N, S, BOOL } = attribute;
  if (N !== undefined) return { text: N, json: isInt64(N) ? BigInt(N) : N };
  if (S !== undefined) return { text: S, json: S };
  if (BOOL !== undefined) return { text: String(BOOL), json: BOOL };
  return { text: JSON.stringify(attribute), json: attribute };
}
