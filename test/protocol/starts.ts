import type { OrderItem } from "../../shared/order.ts";
import type { OrderState } from "./contract.ts";
import { orderId } from "./remembered-table.ts";

const id = { N: orderId.toString() };

/** The order as it can be before anyone does anything to it. */
export const starts: Record<string, OrderItem | undefined> = {
  pending: { id, status: { S: "pending" } },
  absent: undefined,
  shipped: { id, status: { S: "shipped" }, shipDate: { S: "2026-11-20T09:00:00.000Z" } },
  cancelled: {
    id,
    status: { S: "cancelled" },
    cancelledAt: { S: "2026-11-20T09:00:00.000Z" },
    cancelledBy: { S: "another client" },
    cancellationId: { S: "invocation of another client" },
  },
  "something else": { id, status: { S: "lost" } },
};

/** The state of an order as the table has it; undefined when the table does not have it. */
export function stateOf(item: OrderItem | undefined): OrderState {
  if (item === undefined) return "absent";
  const status = item["status"]?.S;
  if (status === "cancelled") return `cancelled by ${item["cancelledBy"]?.S}`;
  return status === "pending" || status === "shipped" ? status : "not pending";
}
