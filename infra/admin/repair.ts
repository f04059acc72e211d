import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Command } from "commander";
import type { OrderItem } from "../../shared/order.ts";
import { CommandError } from "../terminal/errors.ts";
import { parseTable } from "./arguments.ts";
import { interruption, pacedCalls, type Result, rateOption, run } from "./command.ts";
import { idAttribute, readIds } from "./order-ids.ts";
import { startProgress } from "./progress.ts";
import { type RepairedItem, RepairReport } from "./repair-report.ts";
import type { Judgement, Rules } from "./repair-rules.ts";
import { type Attributes, hundreds, keyText, type TableCalls, type Unmet } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

interface RepairOptions {
  from: string;
  fields?: string[];
  /** A file of order ids. */
  ids?: string;
  dryRun?: boolean;
}

/** Adds `repair` to the commands of a table; `rulesFor` gets the names of `--fields`. */
export function addRepair(
  commands: Command,
  table: "ordersTable" | "apiKeysTable",
  rulesFor: (fields: string[]) => Rules,
): Command {
  return commands
    .command("repair")
    .description("put back what is missing or damaged, from a copy that was restored beside it")
    .requiredOption("--from <table>", "the copy", parseTable)
    .option("--dry-run", "only say what would be put back")
    .addOption(rateOption())
    .action((options: RepairOptions, command: Command) =>
      run(command, async (target, asJson) => {
        const { from, ids, fields = [], dryRun = false } = options;
        const live = target[table];
        if (from === live) throw new CommandError(`${from} is the table in use`);
        return repair({
          from,
          live,
          rules: rulesFor(fields),
          onlyKeys:
            ids === undefined ? undefined : [...(await readIds(command, ids))].map(idAttribute),
          reads: pacedCalls(command, target, "reads"),
          writes: pacedCalls(command, target, "writes"),
          dryRun,
          signal: interruption(),
          asJson,
        });
      }),
    );
}

/** The table in use, and a copy of it, as it was at a second before the damage. */
export interface Repair {
  from: string;
  live: string;
  rules: Rules;
  /** The keys of the items to repair; all of them unless given. */
  onlyKeys?: AttributeValue[] | undefined;
  reads: TableCalls;
  writes: TableCalls;
  /** Writes nothing. */
  dryRun: boolean;
  signal: AbortSignal;
  asJson: boolean;
}

/** An item of the copy, and the one with the same key in the live table. */
interface Pair {
  key: AttributeValue;
  copied: OrderItem | undefined;
  current: OrderItem | undefined;
}

/**
 * Repairs the live table, each item in one conditional write, until the first failure or until the
 * signal aborts. Safe to run again, and while everyone uses the table: a write is applied only if
 * the item is still as it was judged.
 *
 * @returns a rejection if orders are contradictory or in neither table, or if it stopped early.
 */
export async function repair(job: Repair): Promise<Result> {
  const { live, dryRun, asJson, signal } = job;
  const progress = startProgress(dryRun ? "Comparing" : "Repairing", "items", 0);
  const report = new RepairReport(asJson, progress.print);
  const work = async (readPairs: PairReader, stop: AbortSignal): Promise<void> => {
    for (const pair of await readPairs(stop)) {
      stop.throwIfAborted();
      report.add(...(await repairItem(job, pair, stop)));
    }
    progress.update(report.total);
  };
  const reason = await workThrough(pairReaders(job), work, signal);
  progress.stop();
  return report.result(live, dryRun, reason);
}

/** Reads a hundred pairs. */
type PairReader = (stop: AbortSignal) => Promise<Pair[]>;

/** Readers of the pairs that the copy has, and then of those that only the live table has. */
async function* pairReaders(job: Repair): AsyncGenerator<PairReader, void, void> {
  const { from, live, rules, onlyKeys, reads, signal } = job;
  const read = (table: string, keys: AttributeValue[], stop: AbortSignal) =>
    reads.getMany(table, rules.key, keys, stop);
  if (onlyKeys) {
    for await (const keys of hundreds(onlyKeys))
      yield async (stop) =>
        pairUp(keys, await read(from, keys, stop), await read(live, keys, stop));
    return;
  }
  for await (const copies of hundreds(reads.items(from, signal)))
    yield async (stop) => {
      const keys = copies.map((item) => keyOf(from, rules.key, item));
      return pairUp(keys, byKey(rules.key, copies), await read(live, keys, stop));
    };
  for await (const items of hundreds(reads.items(live, signal)))
    yield async (stop) => {
      const keys = items.map((item) => keyOf(live, rules.key, item));
      const pairs = pairUp(keys, await read(from, keys, stop), byKey(rules.key, items));
      return pairs.filter(({ copied }) => !copied);
    };
}

function keyOf(table: string, name: string, item: OrderItem): AttributeValue {
  const key = item[name];
  if (!key) throw new CommandError(`${table} has an item without ${name}`);
  return key;
}

type ItemsByKey = Map<string, OrderItem>;

function byKey(name: string, items: OrderItem[]): ItemsByKey {
  return new Map(items.map((item) => [keyText(item[name]), item]));
}

function pairUp(keys: AttributeValue[], copied: ItemsByKey, current: ItemsByKey): Pair[] {
  return keys.map((key) => {
    const text = keyText(key);
    return { key, copied: copied.get(text), current: current.get(text) };
  });
}

/**
 * Repairs one item. Its read need not be consistent, because the write's condition is. Returns what
 * became of it, and the attributes in which it differed.
 */
async function repairItem(
  job: Repair,
  pair: Pair,
  stop: AbortSignal,
): Promise<[RepairedItem, string[] | undefined]> {
  const { dryRun, rules } = job;
  const { copied, key } = pair;
  let { current } = pair;
  for (;;) {
    const judgement = judge(rules, copied, current);
    const { change } = judgement;
    const unmet = dryRun ? undefined : await write(job, { key, copied, current }, change, stop);
    if (!unmet) {
      const id = rules.nameOf(copied ?? current ?? { [rules.key]: key });
      const status = current?.["status"]?.S;
      const was = copied?.["status"]?.S;
      return [{ id, outcome: judgement.outcome, status, was }, judgement.differing];
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
  { key, copied, current }: Pair,
  change: Attributes | undefined,
  stop: AbortSignal,
): Promise<Unmet | undefined> {
  if (copied && !current) return writes.insert(live, rules.key, copied, stop);
  if (!current || !change) return undefined;
  const read = Object.fromEntries(rules.judgedBy.map((name) => [name, current[name]]));
  return writes.update(live, { [rules.key]: key }, change, read, stop);
}
