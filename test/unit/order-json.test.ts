import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OrderItem } from "../../shared/order.ts";
import { type OmittedFields, orderJson } from "../../shared/order-json.ts";

const int64 = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .map((value) => ({ attribute: { N: `${value}` }, json: `${value}` }));
const dateTime = fc
  .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
  .map((date) => ({ attribute: { S: date.toISOString() }, json: JSON.stringify(date) }));
const boolean = fc
  .boolean()
  .map((value) => ({ attribute: { BOOL: value }, json: `${value}` }));
const order = fc.record(
  { complete: boolean, shipDate: dateTime, petId: int64, quantity: int64, id: int64 },
  { requiredKeys: [] },
);

describe("the JSON of an order", () => {
  test("has the item's fields in the documented order, every int64 digit for digit", () => {
    const inOrder = ["id", "petId", "quantity", "shipDate", "complete"] as const;
    fc.assert(
      fc.property(order, (fields) => {
        const item: OrderItem = {};
        for (const [name, { attribute }] of Object.entries(fields)) item[name] = attribute;
        const members = inOrder.flatMap((name) => {
          const field = fields[name];
          return field ? [`"${name}":${field.json}`] : [];
        });
        expect(orderJson(item, {})).toBe(`{${members.join()}}`);
      }),
    );
  });

  test("has no attribute that is not a field of an Order", () => {
    const S = "cancelled";
    const others = {
      status: { S },
      cancelledAt: { S },
      cancellationId: { S },
      note: { S },
    };
    expect(orderJson({ id: { N: "1" }, ...others }, {})).toBe('{"id":1}');
  });

  test.each<[what: string, item: OrderItem, json: string, omittedFields: OmittedFields]>([
    ["a text for an id", { id: { S: "1" }, petId: { N: "2" } }, '{"petId":2}', { id: 1 }],
    ["a fraction", { id: { N: "1" }, quantity: { N: "1.5" } }, '{"id":1}', { quantity: 1 }],
    [
      "a number beyond int64",
      { id: { N: "1" }, petId: { N: "9223372036854775808" } },
      '{"id":1}',
      { petId: 1 },
    ],
    ["a text that is not a date", { shipDate: { S: '"},{"' } }, "{}", { shipDate: 1 }],
    ["a number for a date", { shipDate: { N: "1" } }, "{}", { shipDate: 1 }],
    ["a text for a boolean", { complete: { S: "true" } }, "{}", { complete: 1 }],
    [
      "its only fields",
      { id: { NULL: true }, petId: { L: [] } },
      "{}",
      { id: 1, petId: 1 },
    ],
  ])("leaves out %s, and counts it", (_, item, json, expected) => {
    const omittedFields: OmittedFields = {};
    expect(orderJson(item, omittedFields)).toBe(json);
    expect(omittedFields).toEqual(expected);
  });
});
