import { isDateTime, type OrderItem, type OrderStatus } from "../../../shared/order.ts";
import { type Attributes, plainValue } from "../orders-file/attributes.ts";
import { Findings } from "../orders-file/orders-file.ts";
import { counted, countsText, printable } from "../terminal/text.ts";
import { requireKey } from "./api-keys.ts";
import type { Result, Session } from "./session.ts";
import { orderKey } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

interface ReinstateOptions {
  /** The id of the key. */
  cancelledBy: string;
  /** The period in which it cancelled what is reinstated, up to but not at its end. */
  since: string;
  until?: string;
  /** Files of order ids. */
  ids?: string;
  except?: string;
  /** Writes nothing. */
  dryRun?: boolean;
}

/**
 * Makes the orders pending again that a key has cancelled, until the first failure or Ctrl-C, and
 * prints the id of each, or with `--json` when it was cancelled, too. Safe to run again, and while
 * everyone uses the table. A key that was never issued is rejected.
 *
 * @returns also why it stopped early, if it did.
 */
export async function reinstateOrders(
  session: Session,
  options: ReinstateOptions,
): Promise<Result> {
  const { cancelledBy, ids, except, dryRun = false } = options;
  const table = session.ordersTable;
  const onlyIds = ids ? await session.readIds(ids) : undefined;
  const exceptIds = except ? await session.readIds(except) : undefined;
  await requireKey(session, cancelledBy);
  const writes = dryRun ? undefined : session.calls("writes");
  const counts = {
    reinstated: 0,
    outsidePeriod: 0,
    excepted: 0,
    changedSince: 0,
    undated: 0,
    notCancelledByThisKey: 0,
  };
  const undated = new Findings<string>();
  const { reason } = await workThrough(session, {
    title: "Reinstating",
    unit: "orders read",
    items: onlyIds ? [...onlyIds].map(orderKey) : session.calls("reads").scan(table),
    keyOf: onlyIds && ((order) => order),
    async *work(read, order = read) {
      const kept = reasonToKeep(order, options, exceptIds);
      const id = plainValue(order["id"]);
      if (kept === "undated")
        undated.add(kept, `${id} does not say when it was cancelled`);
      if (kept) return yield kept;
      const { id: key, status, cancelledBy, cancelledAt } = order;
      const judged = { id: key, status, cancelledBy, cancelledAt };
      const conflict = await writes?.update(table, "id", reinstatement(), judged);
      if (conflict) return yield "changedSince";
      session.print(String(id), { id, cancelledAt: order["cancelledAt"]?.S });
      yield "reinstated";
    },
    counts,
  });
  const { notCancelledByThisKey: _, ...known } = counts;
  // Without ids, nearly all orders of the table.
  const shown = onlyIds ? counts : known;
  const { reinstated, outsidePeriod, ...kept } = shown;
  const left = countsText({ cancelledOutsideThePeriod: outsidePeriod, ...kept });
  const verb = dryRun ? "Would reinstate" : "Reinstated";
  return {
    json: { table, dryRun, complete: reason === undefined, ...shown },
    notes: [
      `${verb} ${counted(reinstated, "order")}; left ${left}`,
      ...undated.first.sort().map(printable),
      ...undated.more,
    ],
    reason,
    rejected: counts.undated > 0,
  };
}

/** Why an order stays as it is, if it does. */
function reasonToKeep(
  { id, status, cancelledBy, cancelledAt }: OrderItem,
  options: ReinstateOptions,
  exceptIds: Set<string> | undefined,
) {
  if (status?.S !== "cancelled" || cancelledBy?.S !== options.cancelledBy)
    return "notCancelledByThisKey";
  const date = cancelledAt?.S ?? "";
  if (!isDateTime(date)) return "undated";
  const time = Date.parse(date);
  const { since, until } = options;
  const isInPeriod = time >= Date.parse(since) && !(until && time >= Date.parse(until));
  if (!isInPeriod) return "outsidePeriod";
  return exceptIds?.has(id?.N ?? "") ? "excepted" : undefined;
}

/** The change that undoes a cancellation. */
export function reinstatement(): Attributes {
  return {
    // Only pending orders are cancelled, so this is what the order was before.
    status: { S: "pending" satisfies OrderStatus },
    reinstatedAt: { S: new Date().toISOString() },
    cancelledAt: undefined,
    cancelledBy: undefined,
    cancellationId: undefined,
  };
}
