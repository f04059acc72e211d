import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem as Item } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import type { Condition } from "./table-calls.ts";

/**
 * The outcomes for an item: what is brought forward, or why nothing is. `changed`: to a status
 * unknown to the service.
 */
const orderOutcomes = [
  "placed",
  "shipped",
  "cancelled",
  "changed",
  "alreadySo",
  "leftOut",
  "disagreeing",
] as const;
const keyOutcomes = ["issued", "revoked", "alreadySo"] as const;
export type Outcome = (typeof orderOutcomes | typeof keyOutcomes)[number];

/** The rules by which items of one kind of table are carried over. */
export interface Rules {
  /** The partition key. */
  key: string;
  outcomes: readonly Outcome[];
  /** The attributes to set in the new table, all of them if its item, `current`, is missing. */
  judge(old: Item, current: Item | undefined): { outcomes: Outcome[]; set?: Item };
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
 * Carries over the orders that are missing and, to those that are pending, what made them anything
 * else.
 *
 * @param notBy ids of keys whose cancellations are left out. A missing order that one of them
 * cancelled becomes pending.
 */
export function orderRules(notBy: string[]): Rules {
  return {
    key: "id",
    outcomes: orderOutcomes,
    judge(old, current) {
      const [oldStatus, newStatus] = [old["status"]?.S ?? "pending", current?.["status"]?.S];
      const change = oldStatus === "shipped" || oldStatus === "cancelled" ? oldStatus : "changed";
      const leftOut = oldStatus === "cancelled" && notBy.includes(old["cancelledBy"]?.S ?? "");
      if (!current) {
        if (leftOut) return { outcomes: ["placed", "leftOut"], set: uncancelled(old) };
        return { outcomes: oldStatus === "pending" ? ["placed"] : ["placed", change], set: old };
      }
      if (oldStatus === "pending" || oldStatus === newStatus) return { outcomes: ["alreadySo"] };
      if (leftOut) return { outcomes: ["leftOut"] };
      return newStatus === "pending"
        ? { outcomes: [change], set: broughtBy(change, old, current) }
        : { outcomes: ["disagreeing"] };
    },
    condition: isPending,
  };
}

/**
 * The attributes that a change came with. A cancellation leaves the others' values alone; a
 * shipment may set any.
 */
function broughtBy(change: Outcome, old: Item, current: Item): Item {
  const brought = ([name, value]: [string, AttributeValue]): boolean =>
    change === "cancelled"
      ? cancellation.has(name) || current[name] === undefined
      : !sameAttribute(value, current[name]);
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
  judge(old, current) {
    const { revokedAt } = old;
    if (!current) return { outcomes: revokedAt ? ["issued", "revoked"] : ["issued"], set: old };
    return revokedAt && !current["revokedAt"]
      ? { outcomes: ["revoked"], set: { revokedAt } }
      : { outcomes: ["alreadySo"] };
  },
  condition: {
    ConditionExpression: "attribute_exists(keyHash) AND attribute_not_exists(revokedAt)",
  },
};
