import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatOrderLine, parseOrderLine } from "../../infra/orders-file/order-line.ts";
import { type OrderItem, orderStatuses } from "../../shared/order.ts";

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({ N: value.toString() }));
const dateTime = fc
  .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
  .map((date) => ({ S: date.toISOString() }));
const plainText = fc.string({ unit: "grapheme-ascii", maxLength: 100 }).map((S) => ({ S }));
const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const item = fc
  .record({
    id: int64,
    petId: optional(int64),
    quantity: optional(int64),
    shipDate: optional(dateTime),
    complete: optional(fc.boolean().map((BOOL) => ({ BOOL }))),
    status: fc.constantFrom(...orderStatuses).map((S) => ({ S })),
    cancelledAt: optional(dateTime),
    cancelledBy: optional(plainText),
    cancellationId: optional(plainText),
  })
  .map(({ cancelledAt, cancelledBy, cancellationId, ...order }) =>
    order.status.S === "cancelled" ? { ...order, cancelledAt, cancelledBy, cancellationId } : order,
  )
  // An absent field has no attribute, rather than an undefined one.
  .map((fields) => Object.fromEntries(Object.entries(fields).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]]))));

describe("a line of an orders file", () => {
  test("survives writing and reading, to the last digit", () => {
    fc.assert(
      fc.property(item, (order) => {
        expect(parseOrderLine(formatOrderLine(order))).toEqual({ item: order });
      }),
    );
  });

  test("is never both an order and a problem, whatever it says", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        const parsed = parseOrderLine(line);
        expect("item" in parsed ? parsed.item["id"]?.N : parsed.problems.length).toBeTruthy();
      }),
    );
  });

  test("is pending unless it says otherwise", () => {
    expect(parseOrderLine('{"id":1}')).toEqual({ item: { id: { N: "1" }, status: { S: "pending" } } });
  });

  test.each([
    ["", ["not JSON"]],
    ["{", ["not JSON"]],
    ["[]", ["not a JSON object"]],
    ["null", ["not a JSON object"]],
    ["1", ["not a JSON object"]],
    ["{}", ["id is missing"]],
    ['{"id":"1"}', ["id is not a 64-bit integer"]],
    ['{"id":1.0}', ["id is not a 64-bit integer"]],
    ['{"id":1e2}', ["id is not a 64-bit integer"]],
    ['{"id":-0}', ["id is not a 64-bit integer"]],
    ['{"id":9223372036854775808}', ["id is not a 64-bit integer"]],
    ['{"id":1,"petId":null}', ["petId is not a 64-bit integer"]],
    ['{"id":1,"quantity":2.5}', ["quantity is not a 64-bit integer"]],
    ['{"id":1,"complete":"true"}', ["complete is not true or false"]],
    ['{"id":1,"status":"lost"}', ["status is not one of pending, shipped, cancelled"]],
    ['{"id":1,"colour":"red"}', ['unknown field "colour"']],
    ['{"id":1,"__proto__":{}}', ['unknown field "__proto__"']],
    ['{"id":1,"cancelledBy":"key_1"}', ["cancelledBy is only for a cancelled order"]],
    ['{"id":1,"status":"cancelled","cancelledBy":"\\u001b"}', ["cancelledBy is not the id of an API key"]],
    ['{"id":1,"id":2}', ["a field appears twice"]],
    ['{"id":1,"\\u0069d":2}', ["a field appears twice"]],
    [
      '{"shipDate":"2026-02-30T00:00:00Z","petId":"x"}',
      [
        "shipDate is not an ISO 8601 date-time (years 0001 to 9999, Z or an offset of at most 18:00)",
        "petId is not a 64-bit integer",
        "id is missing",
      ],
    ],
  ])("%s is not an order, with every reason", (line, problems) => {
    expect(parseOrderLine(line)).toEqual({ problems });
  });

  test.each(["0000-01-01T00:00:00Z", "2026-01-01T00:00:00+18:01", "2026-01-01T00:00:00-23:59", "2026-02-30T00:00:00Z"])(
    "has no date-time that some client could not hold, like %s",
    (date) => {
      const problem = "not an ISO 8601 date-time (years 0001 to 9999, Z or an offset of at most 18:00)";
      expect(parseOrderLine(`{"id":1,"shipDate":"${date}"}`)).toEqual({ problems: [`shipDate is ${problem}`] });
      expect(() => formatOrderLine({ id: { N: "1" }, status: { S: "pending" }, shipDate: { S: date } })).toThrow(
        problem,
      );
    },
  );

  test("takes no field's name for another because of what a text says", () => {
    expect(parseOrderLine('{"id":1,"status":"a\\":b\\""}')).toEqual({
      problems: ["status is not one of pending, shipped, cancelled"],
    });
  });

  test("has an order's fields in the documented order", () => {
    const shuffled = { status: { S: "pending" }, complete: { BOOL: true }, petId: { N: "2" }, id: { N: "1" } };
    expect(formatOrderLine(shuffled)).toBe('{"id":1,"petId":2,"complete":true,"status":"pending"}');
  });

  test.each<[OrderItem, string]>([
    [{ id: { N: "1" } }, "status is missing"],
    [{ id: { N: "1.5" }, status: { S: "pending" } }, "id is not a 64-bit integer"],
    [{ id: { N: "1" }, status: { S: "held" } }, "status is not one of"],
    [{ id: { N: "1" }, status: { S: "pending" }, cancelledBy: { S: "key_1" } }, "only for a cancelled order"],
    [{ id: { N: "1" }, status: { S: "pending" }, gift: { NULL: true } }, 'unknown field "gift"'],
  ])("is not written from %j, which could not be read again", (given, why) => {
    expect(() => formatOrderLine(given)).toThrow(why);
  });
});
