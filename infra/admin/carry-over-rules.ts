import type { OrderItem as Item } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import { type Condition, whilePending } from "./table-calls.ts";

/**
 * The outcomes for an order: what is carried over, or why nothing is. `changed`: to a status that
 * the service doesn't know.
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
  /** The condition of an update: that the item exists and is not in a final state. */
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
  shipped: judgementsOf("shipped"),
  cancelled: judgementsOf("cancelled"),
  changed: judgementsOf("changed"),
  leftOut: {
    missing: ["placed", "leftOut"],
    pending: ["leftOut"],
    same: ["alreadySo"],
    other: ["leftOut"],
  },
};

/** A change is carried over to orders that are missing or still pending. */
function judgementsOf(change: Outcome): Record<NewState, Outcome[]> {
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
 * Carries over missing orders and, to pending ones, the change of their status.
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
      return { outcomes, set: attributesToSet(outcome, old, current) };
    },
    condition: whilePending,
  };
}

function stateInOldTable(old: Item, notBy: string[]): OldState {
  const status = old["status"]?.S ?? "pending";
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
 * The attributes that a change sets: a cancellation its own and those that the new table lacks, any
 * other change those that differ.
 */
function attributesToSet(change: Outcome, old: Item, current: Item): Item {
  const attributes = Object.entries(old).filter(([name, value]) => {
    if (change !== "cancelled") return !sameAttribute(value, current[name]);
    return cancellation.has(name) || current[name] === undefined;
  });
  return Object.fromEntries(attributes);
}

function uncancelled(order: Item): Item {
  const rest = Object.entries(order).filter(([name]) => !cancellation.has(name));
  return { ...Object.fromEntries(rest), status: pending };
}

/** Carries over missing keys, and the revocations of the others. */
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
