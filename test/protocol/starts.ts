import type { OrderItem } from "../../shared/order.ts";
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
