import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatOrderLine, type OrderRow, parseOrderLine } from "../../infra/order-lines.ts";
import { orderStatuses } from "../../shared/order.ts";

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({ N: value.toString() }));
const moment = fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true });
const dateTime = moment.map((date) => ({ S: date.toISOString() }));
const plainText = fc.string({ unit: "grapheme-ascii", maxLength: 100 }).map((text) => ({ S: text }));

const order = fc.record(
  {
    id: int64,
    status: fc.constantFrom(...orderStatuses).map((status) => ({ S: status })),
    petId: int64,
    quantity: int64,
    shipDate: dateTime,
    complete: fc.boolean().map((complete) => ({ BOOL: complete })),
  },
  { requiredKeys: ["id", "status"] },
);
const cancellation = fc.record(
  { cancelledAt: dateTime, cancelledBy: plainText, cancellationId: plainText },
  { requiredKeys: [] },
);
const row: fc.Arbitrary<OrderRow> = fc
  .tuple(order, cancellation)
  .map(([fields, cancelled]) => ({ ...fields, ...(fields.status.S === "cancelled" && cancelled) }));

describe("an order's line", () => {
  test("holds all of the order, exactly", () => {
    fc.assert(
      fc.property(row, (given) => {
        const line = formatOrderLine(given);
        expect(line).not.toContain("\n");
        expect(parseOrderLine(line)).toEqual({ row: given });
      }),
    );
  });

  test("has an order's fields in the contract's order", () => {
    const shuffled = { status: { S: "pending" }, complete: { BOOL: true }, petId: { N: "2" }, id: { N: "1" } };
    expect(formatOrderLine(shuffled)).toBe('{"id":1,"petId":2,"complete":true,"status":"pending"}');
  });

  test.each<[OrderRow, string]>([
    [{ id: { N: "1" } }, "it has no status"],
    [{ id: { N: "1.5" }, status: { S: "pending" } }, "id is not an int64"],
    [{ id: { N: "1" }, status: { S: "held" } }, "status is not one of"],
    [{ id: { N: "1" }, status: { S: "pending" }, cancelledBy: { S: "key_1" } }, "only for a cancelled order"],
    [{ id: { N: "1" }, status: { S: "cancelled" }, cancelledBy: { S: "\u001b" } }, "cancelledBy is not"],
    [{ id: { N: "1" }, status: { S: "pending" }, gift: { NULL: true } }, "no field of an order"],
  ])("is refused to %j", (given, why) => {
    expect(() => formatOrderLine(given)).toThrow(why);
  });
});
