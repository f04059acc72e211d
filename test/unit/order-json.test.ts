import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LeftOut, orderJson } from "../../shared/order-json.ts";

const fieldsInOrder = ["id", "petId", "quantity", "shipDate", "complete"];
const int64Text = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const dateTime = fc
  .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true })
  .map((date) => date.toISOString());
const order = fc.record(
  {
    id: int64Text.map((N) => ({ N })),
    petId: int64Text.map((N) => ({ N })),
    quantity: int64Text.map((N) => ({ N })),
    shipDate: dateTime.map((S) => ({ S })),
    complete: fc.boolean().map((BOOL) => ({ BOOL })),
  },
  { requiredKeys: [] },
);

/** The values of a JSON object as they are spelt in it. */
function spelling(json: string): [string, string][] {
  const sources: [string, string][] = [];
  const remember = (key: string, value: unknown, ...[context]: { source?: string }[]): unknown => {
    if (key !== "" && context?.source !== undefined) sources.push([key, context.source]);
    return value;
  };
  JSON.parse(json, remember);
  return sources;
}

describe("the JSON of an order", () => {
  test("has the item's fields in the documented order, every int64 digit for digit", () => {
    fc.assert(
      fc.property(order, (item) => {
        const attributes: Record<string, AttributeValue> = item;
        const expected = fieldsInOrder.flatMap((field): [string, string][] => {
          const attribute = attributes[field];
          if (attribute === undefined) return [];
          return [[field, attribute.N ?? (attribute.S === undefined ? String(attribute.BOOL) : `"${attribute.S}"`)]];
        });
        expect(spelling(orderJson(attributes, {}))).toEqual(expected);
      }),
    );
  });

  test("never holds the status or other internal fields", () => {
    const item = {
      id: { N: "1" },
      status: { S: "cancelled" },
      cancelledBy: { S: "key_1" },
      cancellationId: { S: "x" },
    };
    expect(orderJson(item, {})).toBe('{"id":1}');
  });

  test.each<[string, Record<string, AttributeValue>, string, LeftOut]>([
    ["a text for an id", { id: { S: "1" }, petId: { N: "2" } }, '{"petId":2}', { id: 1 }],
    ["a fraction", { id: { N: "1" }, quantity: { N: "1.5" } }, '{"id":1}', { quantity: 1 }],
    ["a number beyond int64", { id: { N: "1" }, petId: { N: "9223372036854775808" } }, '{"id":1}', { petId: 1 }],
    ["a text that is not a date", { id: { N: "1" }, shipDate: { S: '"},{"' } }, '{"id":1}', { shipDate: 1 }],
    ["a number for a date", { id: { N: "1" }, shipDate: { N: "1" } }, '{"id":1}', { shipDate: 1 }],
    ["a text for a boolean", { id: { N: "1" }, complete: { S: "true" } }, '{"id":1}', { complete: 1 }],
    ["a null", { id: { N: "1" }, complete: { NULL: true } }, '{"id":1}', { complete: 1 }],
    ["its only field", { id: { NULL: true } }, "{}", { id: 1 }],
  ])("leaves out and counts %s", (_, item, json, expected) => {
    const leftOut: LeftOut = {};
    expect(orderJson(item, leftOut)).toBe(json);
    expect(leftOut).toEqual(expected);
  });

  test("counts over several orders", () => {
    const leftOut: LeftOut = {};
    orderJson({ id: { S: "1" } }, leftOut);
    orderJson({ id: { S: "2" }, complete: { N: "1" } }, leftOut);
    expect(leftOut).toEqual({ id: 2, complete: 1 });
  });
});
