import fc from "fast-check";
import { expect, test } from "vitest";
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

test("the JSON of an order has the item's fields in the documented order, every int64 digit for digit", () => {
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

test.each<[item: OrderItem, json: string, omitted: string[]]>([
  [
    {
      id: { N: "1" },
      petId: { N: "9223372036854775808" },
      quantity: { N: "1.5" },
      shipDate: { S: '"},{"' },
      complete: { S: "true" },
    },
    '{"id":1}',
    ["petId", "quantity", "shipDate", "complete"],
  ],
  [
    { id: { S: "1" }, petId: { L: [] }, shipDate: { N: "1" }, complete: { NULL: true } },
    "{}",
    ["id", "petId", "shipDate", "complete"],
  ],
  [{ id: { N: "1" }, status: { S: "cancelled" }, note: { S: "x" } }, '{"id":1}', []],
])(
  "the JSON of the order %j is %s, and each field left out is counted",
  (item, json, omitted) => {
    const omittedFields: OmittedFields = {};
    expect(orderJson(item, omittedFields)).toBe(json);
    expect(omittedFields).toEqual(Object.fromEntries(omitted.map((name) => [name, 1])));
  },
);
