import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OrderItem } from "../../shared/order.ts";
import { type OmittedFields, orderJson } from "../../shared/order-json.ts";

const fieldsInOrder = ["id", "petId", "quantity", "shipDate", "complete"];
/** An attribute with the JSON that it must become. */
interface Field {
  attribute: AttributeValue;
  json: string;
}
const int64: fc.Arbitrary<Field> = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .map((value) => ({ attribute: { N: String(value) }, json: String(value) }));
const dateTime: fc.Arbitrary<Field> = fc
  .date({
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31"),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString())
  .map((text) => ({ attribute: { S: text }, json: `"${text}"` }));
const boolean: fc.Arbitrary<Field> = fc
  .boolean()
  .map((value) => ({ attribute: { BOOL: value }, json: String(value) }));
const order: fc.Arbitrary<Record<string, Field>> = fc.record(
  { complete: boolean, shipDate: dateTime, petId: int64, quantity: int64, id: int64 },
  { requiredKeys: [] },
);

describe("the JSON of an order", () => {
  test("has the item's fields in the documented order, every int64 digit for digit", () => {
    fc.assert(
      fc.property(order, (fields) => {
        const item: OrderItem = {};
        for (const [name, { attribute }] of Object.entries(fields)) item[name] = attribute;
        const members = fieldsInOrder.flatMap((name) => {
          const field = fields[name];
          return field ? [`"${name}":${field.json}`] : [];
        });
        expect(orderJson(item, {})).toBe(`{${members.join()}}`);
      }),
    );
  });

  test.each(["status", "cancelledAt", "cancelledBy", "cancellationId", "note"])(
    "has no %s, which is not a field of an Order",
    (name) => {
      expect(orderJson({ id: { N: "1" }, [name]: { S: "cancelled" } }, {})).toBe(
        '{"id":1}',
      );
    },
  );

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
