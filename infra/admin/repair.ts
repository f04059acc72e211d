import type { OrderItem } from "../../shared/order.ts";
import {
  type Attributes,
  differingAttributes,
  plainValue,
} from "../orders-file/attribute-json.ts";
import { batches, Findings } from "../orders-file/orders-file.ts";
import { columns } from "../terminal/columns.ts";
import { CommandError } from "../terminal/errors.ts";
import { countsText, grouped, printable, words } from "../terminal/text.ts";
import { type Result, type Session, workThrough } from "./command.ts";
import { orderKey, type TableCalls } from "./table-calls.ts";

/**
 * The count of each outcome, before any item is judged. `placed`: the live
 * table lacked it. `mended`: some of its attributes are as they were again. All others are left as
 * they are: `differing` in attributes that anyone may correct, `changedSince` by a shipment, a
 * cancellation or the like, `reinstated` after a cancellation, `contradictory` in its final status,
 * `onlyLive` because the copy lacks it. `inNeither`: it was asked for, but no table has it.
 */
const noOutcomes = {
  placed: 0,
  mended: 0,
  same: 0,
  differing: 0,
  changedSince: 0,
  reinstated: 0,
  contradictory: 0,
  onlyLive: 0,
  inNeither: 0,
};
type Outcome = keyof typeof noOutcomes;

/** The decision about an item that both tables have. */
interface Judgement {
  outcome: Outcome;
  /** The attributes to set or remove, if it is mended. */
  change?: Attributes;
  /** The attributes in which a mended or differing item differs. */
  differing?: string[];
}

/** The rules by which items of one kind of table are repaired. */
interface Rules {
  /** The partition key. */
  key: string;
  /** The attribute by which people name an item. */
  name: string;
  /** The attributes that must not have changed since the judgement. */
  judgedBy: string[];
  /** Judges an item of the live table by the copy's. */
  judge(copied: OrderItem, live: OrderItem): Judgement;
}

export interface RepairOptions {
  /** A copy of the table in use, as it was at a second before the damage. */
  from: string;
  /** A file of the ids of the orders to repair; all items unless given. */
  ids?: string;
  /** Writes nothing. */
  dryRun?: boolean;
}

interface Repair {
  from: string;
  live: string;
  rules: Rules;
  reads: TableCalls;
  /** undefined in a dry run. */
  writes: TableCalls | undefined;
}

/** An item of one table, and the items with its key in the copy and in the live table. */
interface Pair {
  item: OrderItem;
  copied: OrderItem | undefined;
  current: OrderItem | undefined;
}

/** The outcome for an item, its status in the live table and in the copy, and what differed. */
interface RepairedItem {
  id: unknown;
  outcome: Outcome;
  status: string | undefined;
  was: string | undefined;
  differing: string[] | undefined;
}

/** The lines about items that were left as they are, but may be wrong. */
const explanations: Partial<Record<Outcome, (item: RepairedItem) => string>> = {
  contradictory: ({ id, status, was }) => `${id} is ${status}, but was ${was}`,
  onlyLive: ({ id }) => `${id} is only in the live table`,
  inNeither: ({ id }) => `${id} is in neither table`,
};

/**
 * Repairs a table in use, each item in one conditional write, until the first failure or Ctrl-C.
 * Safe to run again, and while everyone uses the table: a write is applied only if the item is
 * still as it was judged. Prints the id of an item that was put back, and lists those that may be
 * wrong.
 *
 * @returns a rejection if orders are contradictory or in neither table, and why it stopped early, if
 * it did.
 */
export async function repair(
  session: Session,
  live: string,
  rules: Rules,
  { from, ids, dryRun = false }: RepairOptions,
): Promise<Result> {
  if (from === live) throw new CommandError(`${from} is the table in use`);
  const onlyIds = ids ? await session.readIds(ids) : undefined;
  const job: Repair = {
    from,
    live,
    rules,
    reads: session.calls("reads"),
    writes: dryRun ? undefined : session.calls("writes"),
  };
  const counts = { ...noOutcomes };
  const doubtful = new Findings<string>();
  const fields = new Map<string, number>();
  const report = (repaired: RepairedItem) => {
    const { differing = [], ...item } = repaired;
    for (const name of differing) fields.set(name, (fields.get(name) ?? 0) + 1);
    const { id, outcome } = item;
    const explain = explanations[outcome];
    if (explain) doubtful.add(words(outcome), explain(repaired));
    const isWritten = outcome === "placed" || outcome === "mended";
    if (isWritten || (explain && session.asJson)) session.print(String(id), item);
  };
  const { done, reason } = await workThrough(session, {
    title: dryRun ? "Comparing" : "Repairing",
    unit: "items",
    items: allBatches(job, onlyIds),
    async *work(batch) {
      for (const pair of await readPairs(job, batch)) {
        session.stop.signal.throwIfAborted();
        const item = await repairItem(job, pair);
        report(item);
        yield item.outcome;
      }
    },
    counts,
  });
  const summary = `${dryRun ? "Would repair" : "Repaired"} ${live}: ${countsText(counts)}`;
  const rows = [...fields].map(([name, count]) => [name, grouped(count)]).sort();
  return {
    json: {
      table: live,
      dryRun,
      complete: reason === undefined,
      ...counts,
      fields: Object.fromEntries(fields),
    },
    notes: [
      reason === undefined || done > 0 ? summary : undefined,
      ...doubtful.first.map(printable),
      ...doubtful.more,
      rows.length > 0 ? columns([["FIELD", "DIFFERED IN"], ...rows]) : undefined,
    ],
    reason,
    rejected: counts.contradictory + counts.inNeither > 0,
  };
}

/** The items of the copy, and then those of the live table; or only the chosen keys, of no table. */
async function* allBatches(
  { from, live, reads }: Repair,
  onlyIds: Set<string> | undefined,
) {
  for (const table of onlyIds ? [""] : [from, live]) {
    const all = onlyIds ? [...onlyIds].map(orderKey) : reads.scan(table);
    for await (const items of batches(all)) yield { table, items };
  }
}

/** Reads what the other table has. A pair that the copy has comes with the copy's batch only. */
async function readPairs(
  { from, live, rules, reads }: Repair,
  { table, items }: { table: string; items: OrderItem[] },
) {
  if (items.some((item) => !item[rules.key]))
    throw new CommandError(`${table} has an item without ${rules.key}`);
  const finderIn = async (other: string) =>
    other === table
      ? (item: OrderItem) => item
      : await reads.read(other, rules.key, items);
  const findCopied = await finderIn(from);
  const findCurrent = await finderIn(live);
  return items
    .map((item) => ({ item, copied: findCopied(item), current: findCurrent(item) }))
    .filter((pair) => table !== live || !pair.copied);
}

/**
 * Repairs one item, and returns what became of it. Its read need not be consistent, because the
 * write's condition is.
 */
async function repairItem(
  job: Repair,
  { item, copied, current }: Pair,
): Promise<RepairedItem> {
  const { outcome, change, differing } = judge(job.rules, copied, current);
  const unmet = await write(job, copied, current, change);
  // Someone else wrote first, so judge again by the item they left.
  if (unmet) return repairItem(job, { item, copied, current: unmet.found });
  return {
    id: plainValue(item[job.rules.name]) ?? "",
    outcome,
    status: current?.["status"]?.S,
    was: copied?.["status"]?.S,
    differing,
  };
}

function judge(rules: Rules, copied?: OrderItem, current?: OrderItem): Judgement {
  if (copied && current) return rules.judge(copied, current);
  if (copied) return { outcome: "placed" };
  return { outcome: current ? "onlyLive" : "inNeither" };
}

/**
 * Writes an item that is missing, or the change to one, while it is still as it was judged; nothing
 * in a dry run.
 */
async function write(
  { live, rules, writes }: Repair,
  copied: OrderItem | undefined,
  current: OrderItem | undefined,
  change: Attributes | undefined,
) {
  if (!current) return copied && writes?.insert(live, rules.key, copied);
  if (!change) return undefined;
  const read = Object.fromEntries(rules.judgedBy.map((name) => [name, current[name]]));
  return writes?.update(live, rules.key, change, read);
}

/**
 * Undoes what no one may do to an order (shared/ORDERS-TABLE.md): delete it, revive it, or give it
 * an unknown status. Whatever is allowed stays: a shipment, a cancellation, and the correction of
 * any attribute but those in `fields`.
 */
export function orderRules(fields: string[]): Rules {
  return {
    key: "id",
    name: "id",
    judgedBy: ["id", "status", "reinstatedAt"],
    judge: (copied, live) => judgeOrder(copied, live, fields),
  };
}

function judgeOrder(copied: OrderItem, live: OrderItem, fields: string[]): Judgement {
  const differing = differingAttributes(copied, live);
  if (differing.length === 0) return { outcome: "same" };
  const outcome = differing.includes("status")
    ? judgeStatus(copied, live, differing)
    : "differing";
  if (outcome === "contradictory") return { outcome };
  const mayMend = (name: string) =>
    // Those that a shipment sets.
    outcome !== "changedSince" || (name !== "shipDate" && name !== "complete");
  const wrong = differing.filter((name) => fields.includes(name) && mayMend(name));
  const { id: _, ...attributes } = copied;
  const change = {
    ...Object.fromEntries(wrong.map((name) => [name, copied[name]])),
    // All that an order was: even what doesn't differ yet may be lost until it is written. What
    // only the live order has stays, as another team may have added it since.
    ...(outcome === "mended" && attributes),
  };
  if (Object.keys(change).length > 0) return { outcome: "mended", change, differing };
  return outcome === "differing" ? { outcome, differing } : { outcome };
}

function judgeStatus(copied: OrderItem, live: OrderItem, differing: string[]) {
  const was = statusOf(copied);
  const is = statusOf(live);
  if (mayBecome(was, is)) return "changedSince";
  if (was === "ended" && is === "ended") return "contradictory";
  if (was === "ended" && live["reinstatedAt"])
    return is === "pending" ? "reinstated" : "contradictory";
  // An order that has lost its status may still say that it was cancelled since.
  const wasCancelledSince =
    live["cancellationId"] && differing.includes("cancellationId");
  return wasCancelledSince ? "contradictory" : "mended";
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

/** Mends keys that are no longer revoked. */
export const keyRules: Rules = {
  key: "keyHash",
  name: "keyId",
  judgedBy: ["keyHash", "revokedAt"],
  judge({ revokedAt }, live) {
    const isRevived = revokedAt !== undefined && live["revokedAt"] === undefined;
    return isRevived ? { outcome: "mended", change: { revokedAt } } : { outcome: "same" };
  },
};
