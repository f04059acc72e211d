import type { Command } from "commander";
import type { OrderItem, OrderStatus } from "../../shared/order.ts";
import { counted, grouped } from "../terminal/counted.ts";
import { jsonText, printable } from "../terminal/printable.ts";
import { findKey, noKey } from "./api-keys.ts";
import { interruption, pacedCalls, type Result, run } from "./command.ts";
import { idAttribute, orderIdOf, readIds } from "./order-ids.ts";
import { startProgress } from "./progress.ts";
import { type Attributes, hundreds, type TableCalls } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

interface ReinstateOptions {
  cancelledBy: string;
  since: Date;
  until?: Date;
  /** Files of order ids. */
  ids?: string;
  except?: string;
  dryRun?: boolean;
}

/**
 * Makes the orders pending again that a key has cancelled, and prints the id of each, or with
 * `--json` when it was cancelled, too. A key that was never issued is rejected.
 */
export async function reinstateCommand(options: ReinstateOptions, command: Command): Promise<void> {
  const { ids, except, dryRun = false, ...chosen } = options;
  await run(command, async (target, asJson) => {
    const onlyIds = ids === undefined ? undefined : await readIds(command, ids);
    const exceptIds = except === undefined ? undefined : await readIds(command, except);
    const { cancelledBy } = chosen;
    if (!(await findKey(target, cancelledBy))) throw noKey(cancelledBy);
    return reinstate({
      ...chosen,
      onlyIds,
      exceptIds,
      dryRun,
      table: target.ordersTable,
      reads: pacedCalls(command, target, "reads"),
      writes: pacedCalls(command, target, "writes"),
      signal: interruption(),
      asJson,
    });
  });
}

export interface Reinstatement {
  table: string;
  /** The id of the key. */
  cancelledBy: string;
  /** The period in which it cancelled what is reinstated, up to but not at its end. */
  since: Date;
  until?: Date | undefined;
  /** The orders to choose from; all of them unless given. */
  onlyIds?: Set<bigint> | undefined;
  exceptIds?: Set<bigint> | undefined;
  reads: TableCalls;
  writes: TableCalls;
  /** Writes nothing. */
  dryRun: boolean;
  signal: AbortSignal;
  asJson: boolean;
}

/**
 * Undoes a key's cancellations, each in one conditional write, until the first failure or until the
 * signal aborts. Safe to run again, and while everyone uses the table.
 *
 * @returns a rejection if it stopped early.
 */
export async function reinstate(job: Reinstatement): Promise<Result> {
  const { table, dryRun, signal } = job;
  const counts = { reinstated: 0, outsidePeriod: 0, excepted: 0, changedSince: 0 };
  const progress = startProgress("Reinstating", "orders read", 0);
  let read = 0;
  const work = async (order: OrderItem, stop: AbortSignal): Promise<void> => {
    progress.update(++read);
    if (order["status"]?.S !== "cancelled" || order["cancelledBy"]?.S !== job.cancelledBy) return;
    const outcome = await reinstateOrder(job, order, stop);
    counts[outcome]++;
    if (outcome !== "reinstated") return;
    const id = orderIdOf(order);
    const cancelledAt = order["cancelledAt"]?.S;
    progress.print(job.asJson ? jsonText({ id, cancelledAt }) : printable(String(id)));
  };
  const reason = await workThrough(chosenOrders(job), work, signal);
  progress.stop();
  const { reinstated, outsidePeriod, excepted, changedSince } = counts;
  const summary =
    `${dryRun ? "Would reinstate" : "Reinstated"} ${counted(reinstated, "order")}; left ` +
    `${grouped(outsidePeriod)} cancelled outside the period, ${grouped(excepted)} excepted, ` +
    `${grouped(changedSince)} changed since`;
  return {
    json: { table, dryRun, complete: reason === undefined, ...counts },
    note: reason === undefined ? summary : `${summary}\n${reason}. Run it again for the rest.`,
    rejected: reason !== undefined,
  };
}

async function* chosenOrders(job: Reinstatement): AsyncGenerator<OrderItem, void, void> {
  const { table, onlyIds, reads, signal } = job;
  if (!onlyIds) return yield* reads.items(table, signal);
  for await (const ids of hundreds(onlyIds)) {
    yield* (await reads.getMany(table, "id", ids.map(idAttribute), signal)).values();
  }
}

type Outcome = "reinstated" | "outsidePeriod" | "excepted" | "changedSince";

async function reinstateOrder(
  { table, since, until, exceptIds, writes, dryRun }: Reinstatement,
  order: OrderItem,
  stop: AbortSignal,
): Promise<Outcome> {
  const { status, cancelledAt, cancelledBy } = order;
  const time = Date.parse(cancelledAt?.S ?? "");
  const isInPeriod = time >= since.getTime() && !(until && time >= until.getTime());
  if (!isInPeriod) return "outsidePeriod";
  const id = orderIdOf(order);
  if (typeof id === "bigint" && exceptIds?.has(id)) return "excepted";
  if (dryRun) return "reinstated";
  // Only pending orders are cancelled, so this is what the order was before.
  const change: Attributes = {
    status: { S: "pending" satisfies OrderStatus },
    reinstatedAt: { S: new Date().toISOString() },
    cancelledAt: undefined,
    cancelledBy: undefined,
    cancellationId: undefined,
  };
  const read = { status, cancelledBy, cancelledAt };
  const unmet = await writes.update(table, { id: { N: String(id) } }, change, read, stop);
  return unmet ? "changedSince" : "reinstated";
}
