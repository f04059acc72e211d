import type { OrderItem } from "../../../shared/order.ts";
import type { OrderState } from "./contract.ts";

/** The state of an order as the table has it; undefined when the table does not have it. */
export function stateOf(item: OrderItem | undefined): OrderState {
  if (item === undefined) return "absent";
  const status = item["status"]?.S;
  if (status === "cancelled") return `cancelled by ${item["cancelledBy"]?.S}`;
  return status === "pending" || status === "shipped" ? status : "not pending";
}
