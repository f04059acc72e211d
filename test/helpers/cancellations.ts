import type { ErrorCode } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";

// Whether an order is complete says nothing about its status.
const complete = { BOOL: true };
const cancelledBy = (id: string): OrderItem => ({
  status: { S: "cancelled" },
  complete,
  cancellationId: { S: id },
});

/** The orders that `invocation-1` cancels, without ids, and the outcome. */
export const cancellations: [
  what: string,
  before: OrderItem | undefined,
  outcome: 204 | ErrorCode,
][] = [
  ["a pending order", { status: { S: "pending" }, petId: { N: "7" }, complete }, 204],
  [
    "an order that this invocation has cancelled, its response lost",
    cancelledBy("invocation-1"),
    204,
  ],
  ["an order that does not exist", undefined, "order_not_found"],
  ["a shipped order", { status: { S: "shipped" } }, "order_already_shipped"],
  [
    "an order that this invocation has cancelled, marked shipped since",
    { status: { S: "shipped" }, cancellationId: { S: "invocation-1" } },
    "order_already_shipped",
  ],
  [
    "an order that another invocation has cancelled",
    cancelledBy("invocation-0"),
    "order_already_cancelled",
  ],
  [
    "an order cancelled in the table",
    { status: { S: "cancelled" } },
    "order_already_cancelled",
  ],
  [
    "an order of unknown status",
    { status: { S: "lost" }, complete },
    "order_not_pending",
  ],
  ["an order whose status is a number", { status: { N: "1" } }, "order_not_pending"],
  ["an order without a status", { complete }, "order_not_pending"],
];
