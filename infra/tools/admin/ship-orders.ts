import { randomUUID } from "node:crypto";
import { isThrottled } from "../../../shared/dynamodb.ts";
import type { OrderItem, OrderStatus } from "../../../shared/order.ts";
import { errorText } from "../terminal/errors.ts";
import { counted, countsText } from "../terminal/text.ts";
import type { Result, Session } from "./session.ts";
import { type Outcome, outcomes } from "./ship-outcomes.ts";
import { orderKey, type TableCalls, UnsettledWriteError } from "./table-calls.ts";
import { workThrough } from "./work-through.ts";

interface Shipment {
  outcome: Outcome;
  shipDate?: string | undefined;
  status?: string | undefined;
  /** Of an unknown outcome: the order's own, if it has shipped, and why it is unknown. */
  shipmentId?: string;
  reason?: string;
}

/**
 * Ships the orders named on the command line, in a file or on standard input, several at a time,
 * and prints a line for each, in their order.
 *
 * @param options a file of ids, `-` for standard input, and when they shipped (ISO 8601).
 */
export async function shipOrders(
  session: Session,
  named: string[],
  { file, date: shipDate = new Date().toISOString() }: { file?: string; date?: string },
): Promise<Result> {
  const ids = named.length > 0 ? new Set(named) : await session.readIds(file);
  const calls = session.calls("writes");
  const counts: Record<string, number> = {};
  let previous: Promise<unknown> = Promise.resolve();
  const { done, reason } = await workThrough(session, {
    title: "Shipping",
    unit: "orders",
    total: ids.size,
    items: ids,
    async *work(id) {
      const shipping = shipOrder(session.ordersTable, id, shipDate, calls);
      const printing = Promise.all([shipping, previous]).then(([shipment]) => {
        session.print(shipmentText(id, shipment), { id: BigInt(id), ...shipment });
        return shipment.outcome;
      });
      previous = printing.catch(() => {});
      yield printing;
    },
    counts,
  });
  counts["not_tried"] = ids.size - done;
  const found: Record<string, number> = {};
  for (const [outcome, [, exitCode]] of Object.entries(outcomes)) {
    const count = counts[outcome];
    if (!count) continue;
    found[outcome] = count;
    process.exitCode = exitCode;
  }
  const summary = `${counted(ids.size, "order")}: ${countsText(found)}`;
  return {
    notes: [ids.size > 1 && summary],
    reason,
    unprinted: "Ship them again to see what has shipped",
  };
}

function shipmentText(id: string, shipment: Shipment) {
  const { outcome, shipDate, status, shipmentId, reason } = shipment;
  const unknown = shipmentId && `shipment ${shipmentId}, ${reason}`;
  const detail = shipDate ?? status ?? unknown;
  const suffix = detail === undefined ? "" : `: ${detail}`;
  return `Order ${id} ${outcomes[outcome][0]}${suffix}`;
}

/**
 * Ships an order in one conditional write: only `pending` becomes `shipped`. A shipment id of its
 * own tells this write from any other if its response is lost, and replaces an older one.
 *
 * @throws what the DynamoDB client throws when the order can't have shipped.
 */
async function shipOrder(
  table: string,
  id: string,
  shipDate: string,
  calls: TableCalls,
): Promise<Shipment> {
  const pending = { ...orderKey(id), status: { S: "pending" satisfies OrderStatus } };
  const shipmentId = randomUUID();
  const shipped: OrderItem = {
    status: { S: "shipped" satisfies OrderStatus },
    shipDate: { S: shipDate },
    complete: { BOOL: true },
    shipmentId: { S: shipmentId },
  };
  try {
    const conflict = await calls.update(table, "id", shipped, pending);
    if (conflict === undefined) return { outcome: "shipped", shipDate };
    return rejection(conflict.found);
  } catch (error) {
    const cause = error instanceof UnsettledWriteError ? error.cause : error;
    if (cause === error && !isThrottled(error)) throw error;
    return { outcome: "unknown", shipmentId, reason: errorText(cause) };
  }
}

/** Why an order can't ship, from its item in the table. */
function rejection(item: OrderItem | undefined): Shipment {
  if (item === undefined) return { outcome: "not_found" };
  const { status, shipDate } = item;
  if (status?.S === "shipped")
    return { outcome: "already_shipped", shipDate: shipDate?.S };
  if (status?.S === "cancelled") return { outcome: "cancelled" };
  return { outcome: "not_pending", status: status?.S };
}
