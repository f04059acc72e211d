import type { OrderItem } from "../../../shared/order.ts";
import { plainValue } from "../orders-file/attributes.ts";
import { batches } from "../orders-file/batches.ts";
import { Findings } from "../orders-file/orders-file.ts";
import { columns } from "../terminal/columns.ts";
import { CommandError } from "../terminal/errors.ts";
import { countsText, grouped, printable, words } from "../terminal/text.ts";
import type { Result, Session } from "./command.ts";
import {
  type Judgement,
  keyRules,
  type Outcome,
  orderRules,
  type Rules,
  zeroCounts,
} from "./repair-rules.ts";
import { orderKey, type TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

interface RepairOptions {
  /** A copy of the table in use, as it was at a second before the damage. */
  from: string;
  /** A file of the ids of the orders to repair; all items unless given. */
  ids?: string;
  /** Writes nothing. */
  dryRun?: boolean;
}

interface Repair {
  /** The copy, and the table in use. */
  from: string;
  live: string;
  rules: Rules;
  reads: TableCalls;
  /** undefined in a dry run. */
  writes: TableCalls | undefined;
}

/** The outcome for an item, its status in the live table and in the copy, and what differed. */
interface RepairedItem {
  id: unknown;
  outcome: Outcome;
  status: string | undefined;
  was: string | undefined;
  differing: string[];
}

/** The lines about items that were left as they are, but may be wrong. */
const explanations: Partial<Record<Outcome, (item: RepairedItem) => string>> = {
  contradictory: ({ id, status, was }) => `${id} is ${status}, but was ${was}`,
  onlyLive: ({ id }) => `${id} is only in the live table`,
  inNeither: ({ id }) => `${id} is in neither table`,
};

/** Repairs the orders table, also these attributes where they differ. */
export function repairOrders(
  session: Session,
  { fields = [], ...options }: RepairOptions & { fields?: string[] },
): Promise<Result> {
  return repair(session, session.ordersTable, orderRules(fields), options);
}

/** Repairs the API keys table. */
export function repairKeys(session: Session, options: RepairOptions): Promise<Result> {
  return repair(session, session.apiKeysTable, keyRules, options);
}

/**
 * Repairs a table in use, each item in one conditional write, until the first failure or Ctrl-C.
 * Safe to run again, and while everyone uses the table: a write is applied only if the item is
 * still as it was judged. Prints the id of each repaired item, and lists those that may be wrong,
 * sorted.
 *
 * @returns a rejection if orders are contradictory or in neither table, and why it stopped early, if
 * it did.
 */
async function repair(
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
  const differences = new Map(rules.repairable.map((name) => [name, 0]));
  const report = (repaired: RepairedItem) => {
    const { differing, ...item } = repaired;
    for (const name of differing) differences.set(name, (differences.get(name) ?? 0) + 1);
    const { id, outcome } = item;
    const explain = explanations[outcome];
    if (explain) doubtful.add(words(outcome), explain(repaired));
    const isWritten = outcome === "placed" || outcome === "repaired";
    if (isWritten || (explain && session.asJson)) session.print(String(id), item);
  };
  const { done, reason } = await workThrough(session, {
    title: dryRun ? "Comparing" : "Repairing",
    unit: "items",
    items: batchesOf(job, onlyIds),
    async *work(batch) {
      const findCopied = await finderIn(job, from, batch);
      const findCurrent = await finderIn(job, live, batch);
      for (const item of batch.items) {
        session.stop.signal.throwIfAborted();
        const copied = findCopied(item);
        // It came with the copy's own batches.
        if (batch.table === live && copied) continue;
        const repaired = await repairItem(job, item, copied, findCurrent(item));
        report(repaired);
        yield repaired.outcome;
      }
    },
    counts,
  });
  const summary = `${dryRun ? "Would repair" : "Repaired"} ${live}: ${countsText(counts)}`;
  const rows = [...differences].map(([name, count]) => [name, grouped(count)]).sort();
  return {
    json: {
      table: live,
      dryRun,
      complete: reason === undefined,
      ...counts,
      fields: Object.fromEntries(differences),
    },
    notes: [
      (done > 0 || reason === undefined) && summary,
      ...doubtful.first.sort().map(printable),
      ...doubtful.more,
      rows.length > 0 && columns([["FIELD", "DIFFERED IN"], ...rows]),
    ],
    reason,
    rejected: counts.contradictory + counts.inNeither > 0,
  };
}

/** Items that were read from one table; keys alone are of none. */
interface Batch {
  table: string;
  items: OrderItem[];
}

/** The items of the copy, and then those of the live table; or only the chosen keys. */
async function* batchesOf(
  { from, live, reads }: Repair,
  onlyIds: Set<string> | undefined,
): AsyncGenerator<Batch> {
  for (const table of onlyIds ? [""] : [from, live]) {
    const read = onlyIds ? [...onlyIds].map(orderKey) : reads.scan(table);
    for await (const items of batches(read)) yield { table, items };
  }
}

/** Returns what finds the item of a table that has the key of one in the batch. */
async function finderIn({ rules, reads }: Repair, name: string, { table, items }: Batch) {
  if (items.some((item) => !item[rules.key]))
    throw new CommandError(`${table} has an item without ${rules.key}`);
  if (table === name) return (item: OrderItem) => item;
  return await reads.read(name, rules.key, items);
}

/**
 * Repairs one item, and returns what became of it. Its read need not be consistent, because the
 * write's condition is.
 */
async function repairItem(
  job: Repair,
  item: OrderItem,
  copied: OrderItem | undefined,
  current: OrderItem | undefined,
): Promise<RepairedItem> {
  const judgement = judge(job.rules, copied, current);
  const conflict = await write(job, copied, current, judgement);
  // Someone else wrote first, so judge again by the item they left.
  if (conflict) return repairItem(job, item, copied, conflict.found);
  return {
    id: plainValue(item[job.rules.name]) ?? "",
    outcome: judgement.outcome,
    status: current?.["status"]?.S,
    was: copied?.["status"]?.S,
    differing: judgement.differing ?? [],
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
  { change }: Judgement,
) {
  if (!current) return copied && writes?.insert(live, rules.key, copied);
  if (!change) return undefined;
  const read = Object.fromEntries(rules.judgedBy.map((name) => [name, current[name]]));
  return writes?.update(live, rules.key, change, read);
}
