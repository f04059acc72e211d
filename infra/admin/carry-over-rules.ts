import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem as Item } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import type { Condition } from "./table-calls.ts";

/** The outcomes for an item: what is brought forward, or why nothing is. `changed`: to a status unknown to the service. */
const orderOutcomes = ["placed", "shipped", "cancelled", "changed", "alreadySo", "leftOut", "disagreeing"] as const;
const keyOutcomes = ["issued", "revoked", "alreadySo"] as const;
export type Outcome = (typeof orderOutcomes | typeof keyOutcomes)[number];

/** The rules by which items of one kind of table are carried over. */
export interface Rules {
  /** The partition key. */
  key: string;
  outcomes: readonly Outcome[];
  /** The attributes to set in the new table, all of them if its item, `here`, is missing. */
  judge(old: Item, here: Item | undefined): { outcomes: Outcome[]; set?: Item };
  /** Holds while an item may be given what `judge` wants set, and never for a missing one. */
  condition: Condition;
}

const pending = { S: "pending" };

/** Holds while an order is pending. */
export const isPending: Condition = {
  ConditionExpression: "#status = :pending",
  ExpressionAttributeNames: { "#status": "status" },
  ExpressionAttributeValues: { ":pending": pending },
};
const cancellation = new Set(["status", "cancelledAt", "cancelledBy", "cancellationId"]);

/**
 * Carries over the orders that are missing and, to those that are pending, what made them anything else.
 *
 * @param notBy ids of keys whose cancellations are left out. A missing order that one of them cancelled becomes pending.
 */
export function orderRules(notBy: string[]): Rules {
  return {
    key: "id",
    outcomes: orderOutcomes,
    judge(old, here) {
      const [there, now] = [old["status"]?.S ?? "pending", here?.["status"]?.S];
      const change = there === "shipped" || there === "cancelled" ? there : "changed";
      const leftOut = there === "cancelled" && notBy.includes(old["cancelledBy"]?.S ?? "");
      if (!here) {
        if (leftOut) return { outcomes: ["placed", "leftOut"], set: uncancelled(old) };
        return { outcomes: there === "pending" ? ["placed"] : ["placed", change], set: old };
      }
      if (there === "pending" || there === now) return { outcomes: ["alreadySo"] };
      if (leftOut) return { outcomes: ["leftOut"] };
      return now === "pending"
        ? { outcomes: [change], set: broughtBy(change, old, here) }
        : { outcomes: ["disagreeing"] };
    },
    condition: isPending,
  };
}

/** The attributes that a change came with. A cancellation leaves the others' values alone; a shipment may set any. */
function broughtBy(change: Outcome, old: Item, here: Item): Item {
  const brought = ([name, value]: [string, AttributeValue]): boolean =>
    change === "cancelled" ? cancellation.has(name) || here[name] === undefined : !sameAttribute(value, here[name]);
  return Object.fromEntries(Object.entries(old).filter(brought));
}

function uncancelled(order: Item): Item {
  const rest = Object.entries(order).filter(([name]) => !cancellation.has(name));
  return { ...Object.fromEntries(rest), status: pending };
}

/** Carries over the keys that are missing, and the revocations of the others. */
export const keyRules: Rules = {
  key: "keyHash",
  outcomes: keyOutcomes,
  judge(old, here) {
    const { revokedAt } = old;
    if (!here) return { outcomes: revokedAt ? ["issued", "revoked"] : ["issued"], set: old };
    return revokedAt && !here["revokedAt"]
      ? { outcomes: ["revoked"], set: { revokedAt } }
      : { outcomes: ["alreadySo"] };
  },
  condition: { ConditionExpression: "attribute_exists(keyHash) AND attribute_not_exists(revokedAt)" },
};
