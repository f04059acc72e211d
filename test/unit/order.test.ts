import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  isDateTime,
  type OmittedFields,
  type OrderFieldType,
  orderFields,
  orderJson,
  parseOrderId,
} from "../../shared/order.ts";
import { character } from "../helpers/properties.ts";

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test("an order id is any int64 in its canonical decimal text, and nothing else", () => {
  const anyInteger = fc.oneof(int64, fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }));
  const around = fc.constantFrom(...",0,+,-, ,0x,.0,e3,\n,n,\u0661".split(","));
  const nearMiss = fc.tuple(around, anyInteger, around).map((parts) => parts.join(""));
  const limits = [-(2n ** 63n) - 1n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 63n, 10n ** 19n];
  fc.assert(
    fc.property(fc.oneof(anyInteger.map(String), nearMiss, fc.string()), (text) => {
      const id = /^-?\d+$/.test(text) ? BigInt.asIntN(64, BigInt(text)) : undefined;
      expect(parseOrderId(text)).toBe(id?.toString() === text ? id : undefined);
    }),
    {
      examples: [...limits.map(String), "", "-", "-0", "0", "abc"].map((text) => [text]),
      numRuns: 2000,
    },
  );
});

test.each([4, 1900, 2000, 2024, 2026, 9999])(
  "a date-time of the year %i is valid exactly when the calendar has its day",
  (year) => {
    for (let month = 0; month <= 13; month += 1) {
      for (let day = 0; day <= 32; day += 1) {
        const parts = [month, day].map((part) => String(part).padStart(2, "0"));
        const text = `${String(year).padStart(4, "0")}-${parts.join("-")}T12:30:59Z`;
        // Date has none of some days, and moves others to the next month.
        const instant = new Date(text);
        const isOnCalendar = instant.getUTCDate() === day;
        expect(isDateTime(text), text).toBe(isOnCalendar);
      }
    }
  },
);

test.each([
  "2026-11-20T23:59:00.123456789Z",
  "2026-11-20T00:30:00+17:59",
  "2026-11-20T12:30:00-09:30",
  "0001-01-01T00:00:00+18:00",
  "9999-12-31T23:59:59-18:00",
])("a date-time can be %s", (text) => {
  expect(isDateTime(text)).toBe(true);
});

test.each([
  "0000-12-31T23:59:59Z",
  "2026-11-20t12:30:00Z",
  "2026-11-20T12:30:00z",
  "2026-11-20T12:30:00+18:01",
  "2026-11-20T12:30:00-19:00",
  "2026-11-20T12:30:00+00:60",
  "2026-11-20 12:30:00Z",
  "2026-11-20T12:30:00",
  "2026-11-20T12:30Z",
  "2026-11-20T24:00:00Z",
  "2026-11-20T12:60:00Z",
  "2026-11-20T12:30:60Z",
  "2026-11-20T12:30:00.Z",
  "2026-11-20T12:30:00.1234567891Z",
  "2026-11-20T12:30:00+0530",
  "2026-11-20T12:30:00Z\n",
  "x2026-11-20T12:30:00Z",
])("a date-time can't be %j", (text) => {
  expect(isDateTime(text)).toBe(false);
});

/** The attributes that a field of each type shows to clients. */
const shown: Record<OrderFieldType, fc.Arbitrary<AttributeValue>> = {
  int64: int64.map((value) => ({ N: String(value) })),
  "date-time": fc
    .date({
      min: new Date("0001-01-01"),
      max: new Date("9999-12-31"),
      noInvalidDate: true,
    })
    .map((value) => ({ S: value.toISOString() })),
  boolean: fc.boolean().map((BOOL) => ({ BOOL })),
};
const anyAttribute = fc.oneof(
  ...Object.values(shown),
  fc.string({ unit: character }).map((S) => ({ S })),
  fc.double({ noNaN: true }).map((value) => ({ N: String(value) })),
  fc.constantFrom<AttributeValue>({ NULL: true }, { L: [] }, { M: {} }, { S: '"' }),
);

test.each(orderFields)(
  "the field $name has exactly the value of its attribute, or is left out and counted",
  ({ name, type }) => {
    /** The attribute that the field's JSON stands for, and how often the field was left out. */
    const seen = (attribute: AttributeValue) => {
      const omittedFields: OmittedFields = {};
      const json = orderJson({ [name]: attribute }, omittedFields);
      const order = JSON.parse(json, (key, value, { source = "" } = {}) => {
        if (key === "") return value;
        if (typeof value === "number") return { N: source };
        return typeof value === "string" ? { S: value } : { BOOL: value };
      });
      return [order, omittedFields];
    };
    fc.assert(
      fc.property(shown[type], (attribute) => {
        expect(seen(attribute)).toEqual([{ [name]: attribute }, {}]);
      }),
    );
    fc.assert(
      fc.property(anyAttribute, (attribute) => {
        const outcomes = [
          [{ [name]: attribute }, {}],
          [{}, { [name]: 1 }],
        ];
        expect(outcomes).toContainEqual(seen(attribute));
      }),
    );
  },
);
