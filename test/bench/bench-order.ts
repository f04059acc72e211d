import type { OrderItem } from "../../shared/order.ts";

/** A pending order with all five fields, no two alike, so that a list compresses as one of real orders would. */
export function benchOrder(id: number): OrderItem {
  return {
    id: { N: String(id) },
    petId: { N: String((id * 7919) % 100_003) },
    quantity: { N: String((id % 9) + 1) },
    shipDate: { S: new Date(1_790_000_000_000 + id * 60_000).toISOString() },
    complete: { BOOL: id % 3 === 0 },
    status: { S: "pending" },
  };
}
