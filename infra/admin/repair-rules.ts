import type { OrderItem as Item } from "../../shared/order.ts";
import { sameAttribute } from "../orders-file/attribute-json.ts";
import { orderIdOf } from "./order-ids.ts";
import type { Attributes } from "./table-calls.ts";

/**
 * The outcomes for an item of the copy or of the live table. `placed`: the live table lacked it.
 * `mended`: some of its attributes are as they were again. All others are left as they are:
 * `differing` in attributes that anyone may correct, `changedSince` by a shipment, a cancellation
 * or the like, `reinstated` after a cancellation, `contradictory` in its final status, `onlyLive`
 * because the copy lacks it. `inNeither`: it was asked for, but no table has it.
 */
export const outcomes = [
  "placed",
  "mended",
  "same",
  "differing",
  "changedSince",
  "reinstated",
  "contradictory",
  "onlyLive",
  "inNeither",
] as const;
export type Outcome = (typeof outcomes)[number];

/** The decision about an item that both tables have. */
export interface Judgement {
  outcome: Outcome;
  /** The attributes to set or remove, if it is mended. */
  change?: Attributes;
  /** Those in which an item that is mended or differing differs. */
  differing?: string[];
}

/** The rules by which items of one kind of table are repaired. */
export interface Rules {
  /** The partition key. */
  key: string;
  /** Names an item, for people. */
  nameOf(item: Item): bigint | string;
  /** The attributes that must not have changed since the judgement. */
  judgedBy: string[];
  /** Judges an item of the live table by the copy's. */
  judge(copied: Item, live: Item): Judgement;
}

/**
 * Mends what no one may do to an order (shared/ORDERS-TABLE.md): delete it, revive it, or give it
 * an unknown status. Whatever is allowed stays: a shipment, a cancellation, and the correction of
 * any attribute but those in `fields`.
 */
export function orderRules(fields: string[]): Rules {
  return {
    key: "id",
    nameOf: orderIdOf,
    judgedBy: ["id", "status", "reinstatedAt"],
    judge: (copied, live) => judgeOrder(copied, live, fields),
  };
}

function judgeOrder(copied: Item, live: Item, fields: string[]): Judgement {
  const differing = differingAttributes(copied, live);
  if (differing.length === 0) return { outcome: "same" };
  const outcome = differing.includes("status") ? judgeStatus(copied, live) : "differing";
  if (outcome === "contradictory") return { outcome };
  const wrong = differing.filter((name) => fields.includes(name) && isToMend(outcome, name));
  const change = { ...backTo(copied, wrong), ...(outcome === "mended" && withoutId(copied)) };
  if (Object.keys(change).length > 0) return { outcome: "mended", change, differing };
  return outcome === "differing" ? { outcome, differing } : { outcome };
}

/** Whether one of `fields` is to be mended, unlike those that a shipment has set since. */
function isToMend(outcome: Outcome, field: string): boolean {
  return outcome !== "changedSince" || (field !== "shipDate" && field !== "complete");
}

/**
 * All that an order was: even what doesn't differ yet may be lost until it is written. What only
 * the live order has stays, as another team may have added it since.
 */
function withoutId({ id: _, ...order }: Item): Item {
  return order;
}

type Status = "pending" | "ended" | "other" | "none";

/** The outcomes by an order's status in the copy and, unless it is the same, in the live table. */
const statusOutcomes: Record<Status, Record<Status, Outcome>> = {
  pending: { pending: "differing", ended: "changedSince", other: "mended", none: "mended" },
  ended: { pending: "mended", ended: "contradictory", other: "mended", none: "mended" },
  other: { pending: "changedSince", ended: "changedSince", other: "changedSince", none: "mended" },
  none: {
    pending: "changedSince",
    ended: "changedSince",
    other: "changedSince",
    none: "differing",
  },
};

function statusOf({ status }: Item): Status {
  if (status === undefined) return "none";
  if (status.S === "pending") return "pending";
  return status.S === "shipped" || status.S === "cancelled" ? "ended" : "other";
}

function judgeStatus(copied: Item, live: Item): Outcome {
  const was = statusOf(copied);
  const is = statusOf(live);
  const outcome = statusOutcomes[was][is];
  if (outcome !== "mended") return outcome;
  if (was === "ended" && live["reinstatedAt"])
    return is === "pending" ? "reinstated" : "contradictory";
  // An order that has lost its status may still say that it was cancelled since.
  const { cancellationId } = live;
  const wasCancelledSince =
    cancellationId !== undefined && !sameAttribute(cancellationId, copied["cancellationId"]);
  return wasCancelledSince ? "contradictory" : "mended";
}

/** Mends keys that are no longer revoked. */
export const keyRules: Rules = {
  key: "keyHash",
  nameOf: ({ keyId }) => keyId?.S ?? "",
  judgedBy: ["keyHash", "revokedAt"],
  judge({ revokedAt }, live) {
    const isRevived = revokedAt !== undefined && live["revokedAt"] === undefined;
    return isRevived ? { outcome: "mended", change: { revokedAt } } : { outcome: "same" };
  },
};

function differingAttributes(copied: Item, live: Item): string[] {
  const names = Object.keys({ ...copied, ...live });
  return names.filter((name) => !sameAttribute(copied[name], live[name])).sort();
}

function backTo(copied: Item, names: string[]): Attributes {
  return Object.fromEntries(names.map((name) => [name, copied[name]]));
}
