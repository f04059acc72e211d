import type { OrderItem } from "../../../shared/order.ts";
import { type Attributes, plainValue } from "../orders-file/attributes.ts";
import { batches } from "../orders-file/batches.ts";
import { Findings } from "../orders-file/orders-file.ts";
import { columns } from "../terminal/columns.ts";
import { CommandError } from "../terminal/errors.ts";
import { countsText, grouped, printable, words } from "../terminal/text.ts";
import type { Result, Session } from "./command.ts";
import { type Judgement, type Outcome, type Rules, zeroCounts } from "./repair-rules.ts";
import { orderKey, type TableCalls } from "./table-calls.ts";
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
 * wrong, sorted.
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
  const counts = { ...zeroCounts };
  const doubtful = new Findings<string>();
  const fields = new Map(rules.fields.map((name) => [name, 0]));
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
      ...doubtful.first.sort().map(printable),
      ...doubtful.more,
      rows.length > 0 && columns([["FIELD", "DIFFERED IN"], ...rows]),
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

/** Reads what the other table has. What the copy has came with its own batches. */
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
