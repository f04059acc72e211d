import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isDateTime, isInt64, parseOrderId } from "../../shared/order.ts";

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe("an order id", () => {
  test("is every int64, exactly", () => {
    fc.assert(fc.property(int64, (id) => parseOrderId(id.toString()) === id));
  });

  test.each(["-9223372036854775808", "9223372036854775807", "0", "-1"])("%s is one", (text) => {
    expect(parseOrderId(text)?.toString()).toBe(text);
  });

  test.each([
    ["9223372036854775808"],
    ["-9223372036854775809"],
    ["10000000000000000000"],
    ["abc"],
    ["1.0"],
    ["1e3"],
    ["007"],
    ["+1"],
    ["-0"],
    ["-"],
    [""],
    [" 1"],
    ["1 "],
    ["1\n"],
    ["0x1"],
    ["1n"],
    ["1_0"],
    ["\u0661"],
    ["\uff11"],
    ["\u22121"],
  ])("%j is not one", (text) => {
    expect(parseOrderId(text)).toBeUndefined();
  });

  test("has one spelling: any text that parses is its canonical text", () => {
    const nearMiss = fc
      .tuple(fc.constantFrom("", "0", "00", "+", "-", "--", " "), int64)
      .map(([prefix, id]) => prefix + id);
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearMiss), (text) => {
        const id = parseOrderId(text);
        return id === undefined || id.toString() === text;
      }),
    );
  });

  test("is never an integer outside int64", () => {
    const outside = fc.oneof(
      fc.bigInt({ min: 2n ** 63n, max: 2n ** 80n }),
      fc.bigInt({ min: -(2n ** 80n), max: -(2n ** 63n) - 1n }),
    );
    fc.assert(fc.property(outside, (value) => !isInt64(value.toString())));
  });
});

describe("a date-time", () => {
  test("is every instant as JavaScript writes it", () => {
    const instant = fc.date({
      min: new Date("0001-01-01T00:00:00Z"),
      max: new Date("9999-12-31T23:59:59Z"),
      noInvalidDate: true,
    });
    fc.assert(fc.property(instant, (date) => isDateTime(date.toISOString())));
  });

  test.each(["1900", "2000", "2024", "2026"])("of %s has a day exactly when the calendar has it", (year) => {
    for (let month = 1; month <= 12; month += 1) {
      for (let day = 1; day <= 31; day += 1) {
        const text = `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
        const exists = new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);
        expect([text, isDateTime(`${text}T00:00:00Z`)]).toEqual([text, exists]);
      }
    }
  });

  test.each([
    "2026-11-20T12:30:00+05:30",
    "2026-11-20T12:30:00.123456789Z",
    "2000-02-29T00:00:00-00:00",
    "0001-01-01T00:00:00+18:00",
    "9999-12-31T23:59:59-18:00",
    "2026-11-20T12:30:00+17:59",
  ])("%s is one", (text) => {
    expect(isDateTime(text)).toBe(true);
  });

  test.each(["0000-01-01T00:00:00Z", "0000-12-31T23:59:59Z"])("%s is not one: Python has no year 0", (text) => {
    expect(isDateTime(text)).toBe(false);
  });

  test.each(["18:01", "18:30", "19:00", "23:59"])(
    "offset by %s either way is none: Java has no such offset",
    (offset) => {
      for (const sign of ["+", "-"]) expect(isDateTime(`2026-11-20T12:30:00${sign}${offset}`)).toBe(false);
    },
  );

  test.each([
    "2026-11-20",
    "2026-11-20 12:30:00Z",
    "2026-11-20T12:30:00",
    "2026-11-20T12:30Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T12:60:00Z",
    "2026-11-20T12:30:60Z",
    "2026-13-20T12:30:00Z",
    "2026-00-20T12:30:00Z",
    "2026-11-00T12:30:00Z",
    "2026-11-31T12:30:00Z",
    "1900-02-29T00:00:00Z",
    "2026-11-20T12:30:00.Z",
    "2026-11-20T12:30:00+24:00",
    "2026-11-20T12:30:00+0530",
    '2026-11-20T12:30:00Z"',
    "2026-11-20T12:30:00Z\n",
    "x2026-11-20T12:30:00Z",
  ])("%j is not one", (text) => {
    expect(isDateTime(text)).toBe(false);
  });
});
