import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { type OrderItem, orderJson } from "../../shared/order.ts";
import { gzipLevel } from "../../shared/order-list.ts";

/** How long an order is. Real ones are about as short, and none is longer. */
export const lengths = {
  short: "an id of up to 10 digits, a date to the minute",
  long: "an id of 19 digits, a date to the millisecond",
};
type Length = keyof typeof lengths;

/** Pending orders as a Scan returns them: shuffled, and with no value that tells another. */
export function ordersFrom(first: number, count: number, length: Length = "short") {
  return Array.from({ length: count }, (_, index) => orderFrom(first + index, length));
}

export function idsOf(orders: OrderItem[]) {
  return orders.map(({ id }) => String(id?.N));
}

function orderFrom(seed: number, length: Length): OrderItem {
  const id = scatter(seed);
  const random = (field: number, below: number) => scatter(id ^ (field << 28)) % below;
  const minutes = random(1, 366 * 24 * 60);
  const milliseconds = length === "long" ? random(2, 60_000) : 0;
  const longId = BigInt(id) * 2n ** 31n + BigInt(random(3, 2 ** 31));
  return {
    id: { N: String(length === "long" ? longId : id) },
    petId: { N: String(random(4, 100_000)) },
    quantity: { N: String(1 + random(5, 9)) },
    shipDate: { S: new Date(minutes * 60_000 + milliseconds + start).toISOString() },
    complete: { BOOL: random(6, 3) === 0 },
    status: { S: "pending" },
  };
}

const start = Date.parse("2026-01-01T00:00:00Z");

/** Turns numbers into others of 32 bits that look random; different ones stay different. */
function scatter(value: number) {
  let bits = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** The bytes of an order: in the table once it is cancelled, in a list, and in a gzip list. */
export function orderBytes(length: Length) {
  const orders = ordersFrom(0, 10_000, length);
  const cancelled = {
    ...orders[1],
    status: { S: "cancelled" },
    cancelledAt: { S: new Date().toISOString() },
    cancelledBy: { S: "key_0123456789abcdef" },
    cancellationId: { S: randomUUID() },
  };
  const stored = Object.entries(cancelled).map(attributeBytes);
  const list = orders.map((order) => orderJson(order, {})).join();
  return {
    stored: stored.reduce((sum, bytes) => sum + bytes),
    plain: list.length / orders.length,
    gzip: gzipSync(list, { level: gzipLevel }).length / orders.length,
  };
}

/** DynamoDB's developer guide, "Item sizes and formats". */
function attributeBytes([name, { N, S = "1" }]: [string, AttributeValue]) {
  return name.length + (N === undefined ? S.length : Math.ceil(N.length / 2) + 1);
}
