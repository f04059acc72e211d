import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAttribute, sameAttribute } from "../../infra/orders-file/attribute-json.ts";
import { formatOrderLine, parseOrderLine } from "../../infra/orders-file/order-line.ts";
import { type OrderItem, orderStatuses } from "../../shared/order.ts";

const int64 = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .map((value) => ({ N: value.toString() }));
const dateTime = fc
  .date({
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59Z"),
    noInvalidDate: true,
  })
  .map((date) => ({ S: date.toISOString() }));
const keyId = fc.stringMatching(/^key_[0-9a-f]{16}$/).map((S) => ({ S }));
const requestId = fc.uuid().map((S) => ({ S }));
const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const known = fc
  .record({
    id: int64,
    petId: optional(int64),
    quantity: optional(int64),
    shipDate: optional(dateTime),
    complete: optional(fc.boolean().map((BOOL) => ({ BOOL }))),
    status: fc.constantFrom(...orderStatuses).map((S) => ({ S })),
    cancelledAt: optional(dateTime),
    cancelledBy: optional(keyId),
    cancellationId: optional(requestId),
  })
  // An absent field has no attribute, rather than an undefined one.
  .map((fields) => {
    const present = Object.entries(fields).filter(([, value]) => value !== undefined);
    return Object.fromEntries(present);
  });

const text = fc.string({ unit: "grapheme", maxLength: 8 });
const digits = fc.stringMatching(/^-?[1-9]\d{0,37}$/);
const bytes = fc.uint8Array({ maxLength: 8 });
/** A set, in the order in which a line lists it. */
const setOf = <T>(elements: fc.Arbitrary<T>, sortKey: (element: T) => string) =>
  fc
    .uniqueArray(elements, { minLength: 1, maxLength: 4, selector: sortKey })
    .map((set) => set.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)));
const base64 = (value: Uint8Array) => Buffer.from(value).toString("base64");
/** Every type of attribute, nested ones too. */
const { attribute } = fc.letrec<{ attribute: AttributeValue }>((tie) => ({
  attribute: fc.oneof(
    { depthSize: "small" },
    text.map((S) => ({ S })),
    digits.map((N) => ({ N })),
    bytes.map((B) => ({ B })),
    fc.boolean().map((BOOL) => ({ BOOL })),
    fc.constant({ NULL: true as const }),
    setOf(text, (element) => element).map((SS) => ({ SS })),
    setOf(digits, (element) => element).map((NS) => ({ NS })),
    setOf(bytes, base64).map((BS) => ({ BS })),
    fc.array(tie("attribute"), { maxLength: 4 }).map((L) => ({ L })),
    fc
      .dictionary(
        fc.oneof(text, fc.constantFrom("B", "BS", "L", "id", "__proto__")),
        tie("attribute"),
        { maxKeys: 4 },
      )
      .map((M) => ({ M })),
  ),
}));
const names = fc.oneof(
  text,
  fc.constantFrom("petID", "status", "petId", "cancelledBy", "otherAttributes", "SS", "__proto__"),
);
/** The items that other services, or mistakes, may leave in the table. */
const item = fc
  .tuple(known, fc.array(fc.tuple(names, attribute), { maxLength: 3 }), fc.boolean())
  .map(([order, others, hasStatus]): OrderItem => {
    const { status, ...rest } = Object.fromEntries([...Object.entries(order), ...others]);
    return hasStatus && status ? { ...rest, status } : rest;
  });

describe("a line of an orders file", () => {
  test("restores an order whole, with attributes that no field holds", () => {
    fc.assert(
      fc.property(item, (order) => {
        expect(parseOrderLine(formatOrderLine(order) ?? "")).toEqual({ item: order });
      }),
    );
  });

  test("is either an order or a problem, whatever it says", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        const parsed = parseOrderLine(line);
        if ("item" in parsed) expect(parsed.item["id"]).toEqual({ N: expect.any(String) });
        else expect(parsed.problems).not.toEqual([]);
      }),
    );
  });

  test("is pending unless it has a status", () => {
    expect(parseOrderLine('{"id":1}')).toEqual({
      item: { id: { N: "1" }, status: { S: "pending" } },
    });
  });

  test("has what no field can hold in otherAttributes, in DynamoDB's own JSON", () => {
    const order: OrderItem = {
      id: { N: "1" },
      petId: { S: "seven" },
      status: { S: "held" },
      cancelledBy: { S: "key_1" },
      colour: { SS: ["red", "blue"] },
      photo: { B: new Uint8Array([0, 255]) },
      gift: {
        M: { ribbon: { NULL: true }, B: { L: [{ N: "12345678901234567890123456789012345678" }] } },
      },
    };
    expect(formatOrderLine(order)).toBe(
      '{"id":1,"otherAttributes":{"cancelledBy":{"S":"key_1"},"colour":{"SS":["blue","red"]},' +
        '"gift":{"M":{"B":{"L":[{"N":"12345678901234567890123456789012345678"}]},' +
        '"ribbon":{"NULL":true}}},"petId":{"S":"seven"},"photo":{"B":"AP8="},' +
        '"status":{"S":"held"}}}',
    );
  });

  test("has a null status when the order has none", () => {
    const order = { id: { N: "1" } };
    const line = '{"id":1,"status":null}';
    expect(formatOrderLine(order)).toBe(line);
    expect(parseOrderLine(line)).toEqual({ item: order });
  });

  test.each([
    `1${"0".repeat(40)}`,
    `0.${"0".repeat(40)}1`,
    `00.1${"0".repeat(40)}`,
    `-0${"0".repeat(40)}`,
    `${"9".repeat(38)}E+88`,
    "1E-130",
    "0E300",
    "-1.5e-7",
  ])("may have any number that DynamoDB accepts, like %s", (N) => {
    const colour = { N };
    expect(parseOrderLine(`{"id":1,"otherAttributes":{"colour":{"N":"${N}"}}}`)).toMatchObject({
      item: { colour },
    });
  });

  test("can't control a terminal", () => {
    const order = {
      id: { N: "1" },
      status: { S: "pending" },
      "\u202e": { S: "\u009b31m\u2028\u2029\u{e0001}" },
    };
    const line = formatOrderLine(order) ?? "";
    const escaped = String.raw`{"\u202e":{"S":"\u009b31m\u2028\u2029\udb40\udc01"}}`;
    expect(line).toBe(`{"id":1,"status":"pending","otherAttributes":${escaped}}`);
    expect(parseOrderLine(line)).toEqual({ item: order });
  });

  describe.each([
    "0000-01-01T00:00:00Z",
    "2026-01-01T00:00:00+18:01",
    "2026-01-01T00:00:00-23:59",
    "2026-02-30T00:00:00Z",
  ])("with a date-time that some client can't hold, %s,", (date) => {
    test("is rejected", () => {
      const problem =
        "not an RFC 3339 date-time (years 0001 to 9999, Z or an offset of at most 18:00)";
      const problems = [{ text: `shipDate is ${problem}` }];
      expect(parseOrderLine(`{"id":1,"shipDate":"${date}"}`)).toMatchObject({ problems });
    });

    test("has it in otherAttributes when it is exported", () => {
      const order = { id: { N: "1" }, status: { S: "pending" }, shipDate: { S: date } };
      expect(formatOrderLine(order)).toContain(`"otherAttributes":{"shipDate":{"S":"${date}"}}`);
    });
  });

  test("that was exported before a field was added gives the same order", () => {
    const older =
      '{"id":1,"otherAttributes":{"quantity":{"N":"2"},"shipDate":{"S":"2026-12-24T12:00:00Z"}}}';
    const newer = '{"id":1,"quantity":2,"shipDate":"2026-12-24T12:00:00Z"}';
    expect(parseOrderLine(older)).toEqual(parseOrderLine(newer));
  });

  test("has an order's fields in the documented order", () => {
    const shuffled = {
      status: { S: "pending" },
      complete: { BOOL: true },
      petId: { N: "2" },
      id: { N: "1" },
    };
    expect(formatOrderLine(shuffled)).toBe('{"id":1,"petId":2,"complete":true,"status":"pending"}');
  });

  test.each<OrderItem>([
    { id: { N: "1.5" } },
    { id: { N: "9223372036854775808" } },
    { id: { S: "1" } },
    {},
  ])("is not written for an order without an int64 id, like %j", (order) => {
    expect(formatOrderLine(order)).toBeUndefined();
  });
});

test.each([
  [{ N: "1.50" }, { N: "1.5" }],
  [{ N: "007" }, { N: "7" }],
  [{ N: "12E1" }, { N: "120" }],
  [{ N: "0.012" }, { N: "1.2e-2" }],
  [{ N: "-0.0" }, { N: "0" }],
  [{ NS: ["1.0", "2"] }, { NS: ["2", "1"] }],
  [{ NS: ["12", "2"] }, { NS: ["02", "12"] }],
  [{ M: { N: { N: "1.0" }, NS: { NS: ["10"] } } }, { M: { N: { N: "1" }, NS: { NS: ["1E1"] } } }],
  // Two names that look alike.
  [
    { M: { "\u00e9": { N: "1" }, "e\u0301": { N: "2" } } },
    { M: { "e\u0301": { N: "2" }, "\u00e9": { N: "1" } } },
  ],
])("%j has the same value as %j", (a, b) => {
  expect(sameAttribute(a, b)).toBe(true);
});

test.each([
  [{ N: "1.5" }, { N: "15" }],
  [{ N: "1" }, { N: "-1" }],
  [{ N: "1" }, { N: "10" }],
  [{ S: "1.0" }, { S: "1" }],
  [{ SS: ["1.0"] }, { SS: ["1"] }],
  [{ L: [{ N: "1" }, { N: "2" }] }, { L: [{ N: "2" }, { N: "1" }] }],
  [{ N: "1" }, undefined],
])("%j does not have the same value as %j", (a, b) => {
  expect(sameAttribute(a, b)).toBe(false);
});

test.each(["", "1x", "x1", " 1", "1.", ".5", "1e", "--1", "+1"])(
  "%j is not a number in DynamoDB's JSON",
  (number) => {
    expect(isAttribute({ N: number })).toBe(false);
    expect(isAttribute({ NS: ["1", number] })).toBe(false);
  },
);
