import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isDateTime, parseOrderId } from "../../shared/order.ts";

const least = -(2n ** 63n);
const most = 2n ** 63n - 1n;
const int64 = fc.bigInt({ min: least, max: most });

describe("an order id", () => {
  test("can be any int64, exactly", () => {
    const examples: [bigint][] = [[least], [most], [0n], [-1n]];
    fc.assert(
      fc.property(int64, (id) => {
        expect(parseOrderId(id.toString())).toBe(id);
      }),
      { examples },
    );
  });

  test("can't be an integer outside int64", () => {
    const above = fc.bigInt({ min: most + 1n, max: 2n ** 80n });
    const below = fc.bigInt({ min: -(2n ** 80n), max: least - 1n });
    fc.assert(
      fc.property(fc.oneof(above, below), (value) => {
        expect(parseOrderId(value.toString())).toBeUndefined();
      }),
      { examples: [[most + 1n], [least - 1n], [10n ** 19n]] },
    );
  });

  test("has one spelling: any text that parses is its canonical text", () => {
    const before = fc.constantFrom("", "0", "00", "+", "-", " ", "0x", "\u2212", "\u0661");
    const after = fc.constantFrom("", ".0", "e3", " ", "\n", "n", "_0", "\uff11");
    const nearMiss = fc.tuple(before, int64, after).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearMiss), (text) => {
        const id = parseOrderId(text);
        expect(id?.toString() ?? text).toBe(text);
      }),
      { examples: [[""], ["-"], ["-0"], ["abc"]], numRuns: 1000 },
    );
  });
});

describe("a date-time", () => {
  test.each([4, 1900, 2000, 2024, 2026, 9999])(
    "of the year %i is valid exactly when the calendar has its day",
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
  ])("can be %s", (text) => {
    expect(isDateTime(text)).toBe(true);
  });

  test.each([
    "0000-12-31T23:59:59Z",
    "2026-11-20t12:30:00Z",
    "2026-11-20T12:30:00z",
    "2026-11-20T12:30:00+18:01",
    "2026-11-20T12:30:00-19:00",
    "2026-11-20T12:30:00+00:60",
    "2026-11-20",
    "2026-11-20 12:30:00Z",
    "2026-11-20T12:30:00",
    "2026-11-20T12:30Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T12:60:00Z",
    "2026-11-20T12:30:60Z",
    "2026-11-20T12:30:00.Z",
    "2026-11-20T12:30:00.1234567891Z",
    "2026-11-20T12:30:00+0530",
    '2026-11-20T12:30:00Z"',
    "2026-11-20T12:30:00Z\n",
    "x2026-11-20T12:30:00Z",
  ])("can't be %j", (text) => {
    expect(isDateTime(text)).toBe(false);
  });
});
