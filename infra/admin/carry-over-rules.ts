import { isDeepStrictEqual } from "node:util";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderStatus } from "../../shared/order.ts";
import type { Item, Outcome, Rules, Verdict } from "./carry-over.ts";

/**
 * What is carried over of orders: those that are missing, and, to those that are pending, what made them anything else.
 *
 * @param notBy ids of keys whose cancellations are left out. A missing order that one of them cancelled is placed, pending.
 */
export function orderRules(notBy: string[]): Rules {
  return {
    key: "id",
    outcomes: ["placed", "shipped", "cancelled", "changed", "alreadySo", "leftOut", "disagreeing"],
    condition: {
      ConditionExpression: "#status = :pending",
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: { ":pending": { S: "pending" satisfies OrderStatus } },
    },
    judge(old, here): Verdict {
      const there = statusOf(old) ?? "pending";
      const change = there === "shipped" || there === "cancelled" ? there : "changed";
      const leftOut = there === "cancelled" && notBy.includes(old["cancelledBy"]?.S ?? "");
      if (!here) {
        if (leftOut) return { outcomes: ["placed", "leftOut"], set: uncancelled(old) };
        return { outcomes: there === "pending" ? ["placed"] : ["placed", change], set: old };
      }
      if (there === "pending" || there === statusOf(here)) return { outcomes: ["alreadySo"] };
      if (leftOut) return { outcomes: ["leftOut"] };
      if (statusOf(here) !== "pending") return { outcomes: ["disagreeing"] };
      return { outcomes: [change], set: broughtBy(change, old, here) };
    },
  };
}

/** The rules for keys: those that are missing, and the revocations of the others. */
export const keyRules: Rules = {
  key: "keyHash",
  outcomes: ["issued", "revoked", "alreadySo"],
  condition: { ConditionExpression: "attribute_exists(keyHash) AND attribute_not_exists(revokedAt)" },
  judge({ revokedAt, ...old }, here): Verdict {
    const revocation = revokedAt && { revokedAt };
    if (!here) return { outcomes: revocation ? ["issued", "revoked"] : ["issued"], set: { ...old, ...revocation } };
    return revocation && !here["revokedAt"] ? { outcomes: ["revoked"], set: revocation } : { outcomes: ["alreadySo"] };
  },
};

const statusOf = (item: Item): string | undefined => item["status"]?.S;
const cancellation = new Set(["status", "cancelledAt", "cancelledBy", "cancellationId"]);

/** The attributes that a change came with. A cancellation leaves the others' values alone; a shipment may set any. */
function broughtBy(change: Outcome, old: Item, here: Item): Item {
  const brought = ([name, value]: [string, AttributeValue]): boolean =>
    change === "cancelled" ? cancellation.has(name) || here[name] === undefined : !isDeepStrictEqual(value, here[name]);
  return Object.fromEntries(Object.entries(old).filter(brought));
}

function uncancelled(order: Item): Item {
  const rest = Object.entries(order).filter(([name]) => !cancellation.has(name));
  return { ...Object.fromEntries(rest), status: { S: "pending" satisfies OrderStatus } };
}
