import type { OrderItem } from "../../shared/order.ts";
import { CommandError } from "../terminal/errors.ts";
import type { Result, Session } from "./command.ts";
import { orderKey, readIds } from "./order-ids.ts";
import { type RepairedItem, RepairReport } from "./repair-report.ts";
import { type Judgement, noOutcomes, type Rules } from "./repair-rules.ts";
import {
  type Attributes,
  finder,
  hundreds,
  type TableCalls,
  type Unmet,
} from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

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
  writes: TableCalls;
  dryRun: boolean;
}

/** Up to a hundred items of one of the two tables, or keys. */
interface Batch {
  table: string | undefined;
  items: OrderItem[];
}

/** What both tables have with the key of an item. */
interface Pair {
  item: OrderItem;
  copied: OrderItem | undefined;
  current: OrderItem | undefined;
}

/**
 * Repairs a table in use, each item in one conditional write, until the first failure or Ctrl-C.
 * Safe to run again, and while everyone uses the table: a write is applied only if the item is
 * still as it was judged.
 *
 * @returns a rejection if orders are contradictory or in neither table, or if it stopped early.
 */
export async function repair(
  session: Session,
  live: string,
  rules: Rules,
  { from, ids, dryRun = false }: RepairOptions,
): Promise<Result> {
  if (from === live) throw new CommandError(`${from} is the table in use`);
  const onlyIds = ids === undefined ? undefined : await readIds(session, ids);
  const reads = session.calls("reads");
  const job: Repair = { from, live, rules, reads, writes: session.calls("writes"), dryRun };
  const signal = session.interruption();
  const report = new RepairReport();
  const counts = { ...noOutcomes };
  const { done, reason } = await workThrough({
    title: dryRun ? "Comparing" : "Repairing",
    unit: "items",
    items: batches(job, onlyIds, signal),
    async *work(batch, stop) {
      for (const pair of await readPairs(job, batch, stop)) {
        stop.throwIfAborted();
        const item = await repairItem(job, pair, stop);
        report.addItem(item, session);
        yield item.outcome;
      }
    },
    counts,
    signal,
  });
  return report.result(job, counts, done, reason);
}

/** The items of the copy, and then those of the live table; or only the chosen keys. */
async function* batches(
  { from, live, reads }: Repair,
  onlyIds: Set<string> | undefined,
  signal: AbortSignal,
): AsyncIterable<Batch> {
  for (const table of onlyIds ? [undefined] : [from, live]) {
    const items = table ? reads.items(table, signal) : [...(onlyIds ?? [])].map(orderKey);
    for await (const some of hundreds(items)) yield { table, items: some };
  }
}

/** Reads what the other table has. A pair that the copy has comes with the copy's batch only. */
async function readPairs(
  { from, live, rules, reads }: Repair,
  { table, items }: Batch,
  stop: AbortSignal,
): Promise<Pair[]> {
  if (items.some((item) => !item[rules.key]))
    throw new CommandError(`${table} has an item without ${rules.key}`);
  const findIn = async (wanted: string) =>
    finder(
      rules.key,
      wanted === table ? items : await reads.getMany(wanted, rules.key, items, stop),
    );
  const [copied, current] = [await findIn(from), await findIn(live)];
  return items
    .map((item) => ({ item, copied: copied(item), current: current(item) }))
    .filter((pair) => table !== live || !pair.copied);
}

/**
 * Repairs one item, and returns what became of it. Its read need not be consistent, because the
 * write's condition is.
 */
async function repairItem(
  job: Repair,
  pair: Pair,
  stop: AbortSignal,
): Promise<RepairedItem> {
  const { dryRun, rules } = job;
  const { item, copied } = pair;
  let { current } = pair;
  for (;;) {
    const { outcome, change, differing } = judge(rules, copied, current);
    const unmet = dryRun ? undefined : await write(job, copied, current, change, stop);
    if (!unmet) {
      const id = rules.nameOf(copied ?? current ?? item);
      const status = current?.["status"]?.S;
      return { id, outcome, status, was: copied?.["status"]?.S, differing };
    }
    // Someone else wrote first, so judge again by the item they left.
    current = unmet.found;
  }
}

function judge(rules: Rules, copied?: OrderItem, current?: OrderItem): Judgement {
  if (copied && current) return rules.judge(copied, current);
  if (copied) return { outcome: "placed" };
  return { outcome: current ? "onlyLive" : "inNeither" };
}

/** Writes an item that is missing, or the change to one, while it is still as it was judged. */
async function write(
  { live, rules, writes }: Repair,
  copied: OrderItem | undefined,
  current: OrderItem | undefined,
  change: Attributes | undefined,
  stop: AbortSignal,
): Promise<Unmet | undefined> {
  if (copied && !current) return writes.insert(live, rules.key, copied, stop);
  if (!current || !change) return undefined;
  const read = Object.fromEntries(rules.judgedBy.map((name) => [name, current[name]]));
  return writes.update(live, rules.key, change, read, stop);
}
