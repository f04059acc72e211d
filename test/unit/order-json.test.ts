import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LeftOut, orderJson } from "../../shared/order-json.ts";

const fieldsInOrder = ["id", "petId", "quantity", "shipDate", "complete"];
const int64 = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .map((value) => ({ N: String(value) }));
const date = fc.date({
  min: new Date("0001-01-01T00:00:00Z"),
  max: new Date("9999-12-31"),
  noInvalidDate: true,
});
const order: fc.Arbitrary<Record<string, AttributeValue>> = fc.record(
  {
    complete: fc.boolean().map((BOOL) => ({ BOOL })),
    shipDate: date.map((instant) => ({ S: instant.toISOString() })),
    petId: int64,
    quantity: int64,
    id: int64,
  },
  { requiredKeys: [] },
);

describe("the JSON of an order", () => {
  test("has the item's fields in the documented order, every int64 digit for digit", () => {
    fc.assert(
      fc.property(order, (item) => {
        const fields = fieldsInOrder.flatMap((name) => {
          const { N, S, BOOL } = item[name] ?? {};
          if (item[name] === undefined) return [];
          return [`"${name}":${N ?? (S === undefined ? BOOL : `"${S}"`)}`];
        });
        expect(orderJson(item, {})).toBe(`{${fields.join()}}`);
      }),
    );
  });

  test.each(["status", "cancelledAt", "cancelledBy", "cancellationId", "note"])(
    "has no %s, which is not a field of an Order",
    (name) => {
      expect(orderJson({ id: { N: "1" }, [name]: { S: "cancelled" } }, {})).toBe('{"id":1}');
    },
  );

  test.each<[string, Record<string, AttributeValue>, string, LeftOut]>([
    ["a text for an id", { id: { S: "1" }, petId: { N: "2" } }, '{"petId":2}', { id: 1 }],
    ["a fraction", { id: { N: "1" }, quantity: { N: "1.5" } }, '{"id":1}', { quantity: 1 }],
    [
      "a number beyond int64",
      { id: { N: "1" }, petId: { N: "9223372036854775808" } },
      '{"id":1}',
      { petId: 1 },
    ],
    [
      "a text that is not a date",
      { id: { N: "1" }, shipDate: { S: '"},{"' } },
      '{"id":1}',
      { shipDate: 1 },
    ],
    ["a number for a date", { id: { N: "1" }, shipDate: { N: "1" } }, '{"id":1}', { shipDate: 1 }],
    [
      "a text for a boolean",
      { id: { N: "1" }, complete: { S: "true" } },
      '{"id":1}',
      { complete: 1 },
    ],
    ["its only fields", { id: { NULL: true }, petId: { L: [] } }, "{}", { id: 1, petId: 1 }],
  ])("leaves out and counts %s", (_, item, json, expected) => {
    const leftOut: LeftOut = {};
    expect(orderJson(item, leftOut)).toBe(json);
    expect(leftOut).toEqual(expected);
  });
});
