import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { OrderItem as Item } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import { type Condition, whilePending } from "./table-calls.ts";

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

/** The decision about an item of the old table. */
interface Judgement {
  outcomes: Outcome[];
  /** The attributes to set in the new table, all of them if its item is missing. */
  set?: Item;
}

/** The rules by which items of one kind of table are carried over. */
export interface Rules {
  /** The partition key. */
  key: string;
  outcomes: readonly Outcome[];
  /** Judges an item of the old table by the one in the new table, if there is one. */
  judge(old: Item, current: Item | undefined): Judgement;
  /** Holds while an item may be given what `judge` wants set, and never for a missing one. */
  condition: Condition;
}

/** An order's status in the old table; `leftOut`: a cancellation that is not to count. */
type OldState = "pending" | "shipped" | "cancelled" | "changed" | "leftOut";
/** The order in the new table; `same`: with the old table's status. */
type NewState = "missing" | "pending" | "same" | "other";

const orderJudgements: Record<OldState, Record<NewState, Outcome[]>> = {
  pending: {
    missing: ["placed"],
    pending: ["alreadySo"],
    same: ["alreadySo"],
    other: ["alreadySo"],
  },
  shipped: broughtForward("shipped"),
  cancelled: broughtForward("cancelled"),
  changed: broughtForward("changed"),
  leftOut: {
    missing: ["placed", "leftOut"],
    pending: ["leftOut"],
    same: ["alreadySo"],
    other: ["leftOut"],
  },
};

/** The judgements of a change that is brought forward to an order that is still pending. */
function broughtForward(change: Outcome): Record<NewState, Outcome[]> {
  return {
    missing: ["placed", change],
    pending: [change],
    same: ["alreadySo"],
    other: ["disagreeing"],
  };
}

const pending = { S: "pending" };
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
      const oldState = stateInOldTable(old, notBy);
      const newState = stateInNewTable(old, current);
      const outcomes = orderJudgements[oldState][newState];
      if (!current) return { outcomes, set: oldState === "leftOut" ? uncancelled(old) : old };
      const [outcome] = outcomes;
      if (outcome !== "shipped" && outcome !== "cancelled" && outcome !== "changed") {
        return { outcomes };
      }
      return { outcomes, set: broughtBy(outcome, old, current) };
    },
    condition: whilePending,
  };
}

function stateInOldTable(old: Item, notBy: string[]): OldState {
  const { S: status = "pending" } = old["status"] ?? pending;
  if (status === "cancelled" && notBy.includes(old["cancelledBy"]?.S ?? "")) return "leftOut";
  if (status === "pending" || status === "shipped" || status === "cancelled") return status;
  return "changed";
}

function stateInNewTable(old: Item, current: Item | undefined): NewState {
  if (!current) return "missing";
  const status = current["status"]?.S;
  if (status === "pending") return "pending";
  return status === (old["status"]?.S ?? "pending") ? "same" : "other";
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
