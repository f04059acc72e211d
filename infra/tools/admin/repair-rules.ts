import type { OrderItem } from "../../../shared/order.ts";
import { type Attributes, differingAttributes } from "../orders-file/attributes.ts";
import { reinstatement } from "./reinstate-orders.ts";

/**
 * The count of each outcome, before any item is judged. `placed`: the live table lacked it.
 * `repaired`: some of its attributes are as they were again. All others are left as they are:
 * `differing` in attributes that anyone may correct, `changedSince` by a shipment, a cancellation or
 * the like, `reinstated` after a cancellation, `contradictory` in its final status, `onlyLive`
 * because the copy lacks it. `inNeither`: it was asked for, but no table has it.
 */
export const zeroCounts = {
  placed: 0,
  repaired: 0,
  same: 0,
  differing: 0,
  changedSince: 0,
  reinstated: 0,
  contradictory: 0,
  onlyLive: 0,
  inNeither: 0,
};
export type Outcome = keyof typeof zeroCounts;

/** The decision about an item that both tables have. */
export interface Judgement {
  outcome: Outcome;
  /** The attributes to set or remove, if it is repaired. */
  change?: Attributes;
  /** The attributes in which a repaired or differing item differs. */
  differing?: string[];
  /** A line for people about a possible mistake that stays. */
  doubt?: string;
}

/** The rules by which items of one kind of table are repaired. */
export interface Rules {
  /** The partition key. */
  key: string;
  /** The attribute by which people name an item. */
  name: string;
  /** The attributes to repair where they differ, which are counted even if none does. */
  repairable: string[];
  /** The attributes that must not have changed since the judgement. */
  judgedBy: string[];
  /** Judges an item of the live table by the copy's. */
  judge(copied: OrderItem, current: OrderItem): Judgement;
}

/** The attribute that each ending of an order sets anew. */
const proofs = new Map([
  ["shipped", "shipmentId"],
  ["cancelled", "cancellationId"],
]);

/**
 * Undoes what no one may do to an order (shared/ORDERS-TABLE.md): delete it, revive it, or give it
 * an unknown status. Whatever is allowed stays: a shipment, a cancellation, and the correction of
 * any attribute but the repairable ones. If the status is one of these, a shipment or cancellation
 * without a new id of its own is undone, too.
 */
export function orderRules(repairable: string[]): Rules {
  return {
    key: "id",
    name: "id",
    repairable,
    judgedBy: ["id", "status", "reinstatedAt", ...proofs.values()],
    judge: (copied, current) => judgeOrder(copied, current, repairable),
  };
}

function judgeOrder(
  copied: OrderItem,
  current: OrderItem,
  repairable: string[],
): Judgement {
  const differing = differingAttributes(copied, current);
  if (differing.length === 0) return { outcome: "same" };
  const judged = differing.includes("status")
    ? judgeStatus(copied, current, differing)
    : "differing";
  const missing = missingProof(judged, current, differing);
  const isUndone = missing && repairable.includes("status");
  const outcome = isUndone ? "repaired" : judged;
  const was = copied["status"]?.S ?? "without a status";
  const text = `is ${current["status"]?.S} without a new ${missing}, but was ${was}`;
  const doubt = missing && !isUndone && { doubt: text };
  if (outcome === "contradictory") return { outcome, ...doubt };
  const change = {
    ...changeOf(outcome, copied, current, differing, repairable),
    ...(isUndone && undoing(copied, current)),
  };
  if (Object.keys(change).length > 0)
    return { outcome: "repaired", change, differing, ...doubt };
  return outcome === "differing" ? { outcome, differing } : { outcome, ...doubt };
}

/** The proof that an order lacks which has ended since, if it does. */
function missingProof(outcome: Outcome, current: OrderItem, differing: string[]) {
  const proof = proofs.get(current["status"]?.S ?? "");
  const hasEnded = outcome === "changedSince" || outcome === "contradictory";
  return hasEnded && proof && !isNew(proof, current, differing) ? proof : undefined;
}

function isNew(proof: string, current: OrderItem, differing: string[]) {
  return current[proof] !== undefined && differing.includes(proof);
}

/** The change that repairs an order, in the repairable of the attributes that differ. */
function changeOf(
  outcome: Outcome,
  copied: OrderItem,
  current: OrderItem,
  differing: string[],
  repairable: string[],
): Attributes {
  const isShippedSince = isMarked(copied, current);
  // An older shipment must not be proved again.
  const hasMoved =
    outcome !== "differing" || differing.includes("reinstatedAt") || isShippedSince;
  const kept = hasMoved ? ["shipDate", "complete"] : [];
  if (outcome !== "repaired") kept.push("status");
  const restored = differing.filter(
    (name) => repairable.includes(name) && !kept.includes(name),
  );
  const change = Object.fromEntries(restored.map((name) => [name, copied[name]]));
  if (outcome !== "repaired") return change;
  // All that an order was: even what doesn't differ yet may be lost until it is written. What
  // only the current order has stays, as another team may have added it since.
  const { id: _, ...attributes } = copied;
  const shipDate = isShippedSince && { shipDate: current["shipDate"] };
  return { ...change, ...attributes, ...shipDate };
}

/**
 * Undoes an ending. An order that was pending before is reinstated, so that a copy which has this
 * ending, too, doesn't bring it back.
 */
function undoing(copied: OrderItem, current: OrderItem): Attributes {
  const { shipDate, complete, status } = copied;
  const wasPending = status?.S === "pending" || wasReinstated(copied, current);
  const before = { shipDate, complete, shipmentId: undefined };
  return wasPending ? { ...before, ...reinstatement() } : { status };
}

function judgeStatus(copied: OrderItem, current: OrderItem, differing: string[]) {
  const was = statusOf(copied);
  const is = statusOf(current);
  if (mayBecome(was, is)) return "changedSince";
  if (was === "ended" && is === "ended") return judgeEnding(copied, current);
  // If the copy has the same date, it was shipped or cancelled again afterwards.
  if (was === "ended" && current["reinstatedAt"] && differing.includes("reinstatedAt"))
    return is === "pending" ? "reinstated" : "contradictory";
  if (isMarked(copied, current)) return "repaired";
  // An order that has lost its status may still say that it was shipped or cancelled since.
  const hasEndedSince = [...proofs.values()].some((proof) =>
    isNew(proof, current, differing),
  );
  return hasEndedSince ? "contradictory" : "repaired";
}

/** Judges an order that ended otherwise than in the copy. */
function judgeEnding(copied: OrderItem, current: OrderItem) {
  return wasReinstated(copied, current) ? "changedSince" : "contradictory";
}

/** Whether the order's cancellation in the copy was undone, even if it has ended since. */
function wasReinstated({ status, cancelledAt }: OrderItem, { reinstatedAt }: OrderItem) {
  const isLater = Date.parse(reinstatedAt?.S ?? "") >= Date.parse(cancelledAt?.S ?? "");
  return status?.S === "cancelled" && isLater;
}

/** Whether an order has shipped since the copy, in which an operator has marked it (ON-CALL.md). */
function isMarked(copied: OrderItem, current: OrderItem) {
  const isShipped = copied["status"]?.S === "shipped" && !copied["shipmentId"];
  return isShipped && current["shipmentId"] && current["shipDate"];
}

type Status = "pending" | "ended" | "other" | "none";

function statusOf({ status }: OrderItem) {
  if (status === undefined) return "none";
  if (status.S === "pending") return "pending";
  return status.S === "shipped" || status.S === "cancelled" ? "ended" : "other";
}

/** Whether anyone may change an order from one status to the other. */
function mayBecome(was: Status, is: Status) {
  if (was === "other") return is !== "none";
  return was === "none" || (was === "pending" && is === "ended");
}

const issued = ["keyId", "name", "createdAt", "expiresAt"];

/**
 * Restores what was written when a key was issued, and revokes it again if it no longer is. Whether
 * any other difference is right, like a revocation since the copy, is for people to say.
 */
export const keyRules: Rules = {
  key: "keyHash",
  name: "keyId",
  repairable: [],
  judgedBy: ["keyHash", "revokedAt", ...issued],
  judge(copied, current) {
    const differing = differingAttributes(copied, current);
    if (differing.length === 0) return { outcome: "same" };
    const wrong = differing.filter((name) =>
      copied[name]
        ? issued.includes(name) || (name === "revokedAt" && !current[name])
        : name === "expiresAt",
    );
    const others = differing.filter((name) => !wrong.includes(name));
    const doubt = others.length > 0 && { doubt: `differs in ${others.join(", ")}` };
    if (wrong.length === 0) return { outcome: "differing", differing, ...doubt };
    const change = Object.fromEntries(wrong.map((name) => [name, copied[name]]));
    return { outcome: "repaired", change, differing, ...doubt };
  },
};
