import type { OrderItem } from "../../../shared/order.ts";
import { plainValue } from "../orders-file/attributes.ts";
import { batches } from "../orders-file/batches.ts";
import { Findings } from "../orders-file/orders-file.ts";
import { columns } from "../terminal/columns.ts";
import { CommandError } from "../terminal/errors.ts";
import { countsText, grouped, printable, words } from "../terminal/text.ts";
import {
  type Judgement,
  keyRules,
  type Outcome,
  orderRules,
  type Rules,
  zeroCounts,
} from "./repair-rules.ts";
import type { Result, Session } from "./session.ts";
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

/** An item as the copy and the table in use have it, and what became of it. */
interface Repaired extends Judgement {
  copied: OrderItem | undefined;
  current: OrderItem | undefined;
}

/** The lines about items that were left as they are, but may be wrong. */
const explanations: Partial<Record<Outcome, (status?: string, was?: string) => string>> =
  {
    contradictory: (status, was) => `is ${status ?? "without a status"}, but was ${was}`,
    onlyLive: () => "is only in the live table",
    inNeither: () => "is in neither table",
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
  const report = startReport(session, rules);
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
        const repaired = await repairItem(job, copied, findCurrent(item));
        report.add(item, repaired);
        yield repaired.outcome;
      }
    },
    counts,
  });
  if (done === 0 && reason === undefined)
    throw new CommandError(`Nothing was compared: ${from} and ${live} are empty`);
  const summary = `${dryRun ? "Would repair" : "Repaired"} ${live}: ${countsText(counts)}`;
  const complete = reason === undefined;
  return {
    json: { table: live, dryRun, complete, ...counts, fields: report.fields() },
    notes: [done > 0 && summary, ...report.notes(complete)],
    reason,
    rejected: counts.contradictory + counts.inNeither > 0,
  };
}

/** Collects what a repair finds. Prints the items that are written. */
function startReport(session: Session, { name, repairable }: Rules) {
  const doubtful = new Findings<string>();
  /** How many items differ in each attribute. */
  const differences = new Map<string, number>();
  const count = (names: string[], number: number) => {
    for (const name of names)
      differences.set(name, (differences.get(name) ?? 0) + number);
  };
  return {
    add(item: OrderItem, repaired: Repaired) {
      const { copied, current, outcome, differing = [] } = repaired;
      count(
        repairable.filter((name) => copied?.[name]),
        0,
      );
      count(differing, 1);
      const id = plainValue(item[name]) ?? "";
      const status = current?.["status"]?.S;
      const was = copied?.["status"]?.S;
      const { doubt = explanations[outcome]?.(status, was) } = repaired;
      if (doubt) doubtful.add(words(outcome), `${id} ${doubt}`);
      const isWritten = outcome === "placed" || outcome === "repaired";
      if (isWritten || (doubt && session.asJson))
        session.print(String(id), { id, outcome, status, was });
    },
    fields: () => Object.fromEntries(differences),
    notes(complete: boolean) {
      const unknown = repairable.filter((name) => !differences.has(name)).join(", ");
      const rows = [...differences].map(([name, count]) => [name, grouped(count)]);
      return [
        ...doubtful.first.sort().map(printable),
        ...doubtful.more,
        rows.length > 0 && columns([["FIELD", "DIFFERED IN"], ...rows.sort()]),
        complete &&
          unknown &&
          `No order read from the copy has a field ${unknown}: check --fields`,
      ];
    },
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
 * Repairs one item, unless it is a dry run, and again if someone else wrote first. Its read need
 * not be consistent, because the write's condition is.
 */
async function repairItem(
  job: Repair,
  copied: OrderItem | undefined,
  current: OrderItem | undefined,
): Promise<Repaired> {
  const { live, rules, writes } = job;
  const { key, judgedBy } = rules;
  const judgement = judge(rules, copied, current);
  const { outcome, change } = judgement;
  let conflict: { found: OrderItem | undefined } | undefined;
  if (copied && outcome === "placed") conflict = await writes?.insert(live, key, copied);
  if (current && change) {
    const read = Object.fromEntries(judgedBy.map((name) => [name, current[name]]));
    conflict = await writes?.update(live, key, change, read);
  }
  if (conflict) return repairItem(job, copied, conflict.found);
  return { ...judgement, copied, current };
}

function judge(rules: Rules, copied?: OrderItem, current?: OrderItem): Judgement {
  if (copied && current) return rules.judge(copied, current);
  if (copied) return { outcome: "placed" };
  return { outcome: current ? "onlyLive" : "inNeither" };
}
