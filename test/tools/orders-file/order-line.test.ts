import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  differingAttributes,
  isAttribute,
} from "../../../infra/tools/orders-file/attributes.ts";
import {
  formatOrderLine,
  parseOrderLine,
} from "../../../infra/tools/orders-file/order-line.ts";
import { type OrderItem, orderFields } from "../../../shared/order.ts";

const int64 = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .map((N) => ({ N: `${N}` }));
const text = fc.string({ unit: "grapheme", maxLength: 8 });
const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
const digits = fc.stringMatching(/^-?[1-9]\d{0,37}$/);
const bytes = fc.uint8Array({ maxLength: 8 });
/** A set, in the order in which a line lists it. */
const setOf = (elements: fc.Arbitrary<string>) =>
  fc.uniqueArray(elements, { minLength: 1, maxLength: 4 }).map((set) => set.toSorted());
const base64 = bytes.map((value) => Buffer.from(value).toString("base64"));
/** Every type of attribute, nested ones too. */
const { attribute } = fc.letrec<{ attribute: AttributeValue }>((tie) => ({
  attribute: fc.oneof(
    { depthSize: "small" },
    fc.record({ S: text }),
    fc.record({ N: digits }),
    fc.record({ B: bytes }),
    fc.record({ BOOL: fc.boolean() }),
    fc.constant({ NULL: true as const }),
    fc.record({ SS: setOf(text) }),
    fc.record({ NS: setOf(digits) }),
    setOf(base64).map((set) => ({
      BS: set.map((B) => new Uint8Array(Buffer.from(B, "base64"))),
    })),
    fc.record({ L: fc.array(tie("attribute"), { maxLength: 4 }) }),
    fc
      .dictionary(
        fc.oneof(name, fc.constantFrom("B", "BS", "L", "id", "__proto__")),
        tie("attribute"),
        { maxKeys: 4 },
      )
      .map((M) => ({ M })),
  ),
}));
const fields = [
  ...orderFields.map((field) => field.name),
  ...["status", "cancelledAt", "cancelledBy", "cancellationId"],
];
const value = fc.oneof(
  attribute,
  int64,
  fc
    .constantFrom("shipped", "2026-12-01T09:00:00+05:30", "key_0123456789abcdef")
    .map((S) => ({ S })),
);
const names = fc.oneof(
  name,
  fc.constantFrom(...fields, "petID", "otherAttributes", "SS", "constructor"),
);
/** The items that the service, others or mistakes may leave in the table. */
const item = fc
  .tuple(fc.dictionary(names, value, { maxKeys: 6 }), int64)
  .map(([order, id]): OrderItem => ({ ...order, id }));

describe("a line of an orders file", () => {
  test("restores an order whole, with attributes that no field holds", () => {
    fc.assert(
      fc.property(item, (order) => {
        expect(parseOrderLine(formatOrderLine(order) ?? "")).toEqual({ item: order });
      }),
    );
  });

  test("has nothing that can control a terminal", () => {
    const item = { id: { N: "1" }, "\u202e": { S: "\u009b31m\u2028\u2029\u{e0001}" } };
    expect(formatOrderLine(item)).toBe(
      '{"id":1,"status":null,"otherAttributes":' +
        String.raw`{"\u202e":{"S":"\u009b31m\u2028\u2029\udb40\udc01"}}}`,
    );
  });

  test("may have a field in otherAttributes, as an older version exported it", () => {
    const item = { id: { N: "1" }, quantity: { N: "2" }, status: { S: "pending" } };
    const older = '{"id":1,"otherAttributes":{"quantity":{"N":"2"}}}';
    expect(parseOrderLine(older)).toEqual({ item });
  });
});

const dateRule =
  "is not an RFC 3339 date-time (years 0001 to 9999, Z or an offset of at most 18:00)";

const nested = (levels: number) =>
  `{"id":1,"otherAttributes":{"a":${'{"L":['.repeat(levels - 1)}{"S":""}${"]}".repeat(levels - 1)}}}`;

/** Each problem, and below it the lines that have it. */
const rejected = String.raw`
  not a JSON object
    []
    null
    1
  id is missing
    {"otherAttributes":{"id":{"S":"x"}}}
  id is not a 64-bit integer
    {"id":"1"}
    {"id":1.0}
    {"id":1e2}
    {"id":-0}
    {"id":9223372036854775808}
  petId is not a 64-bit integer
    {"id":1,"petId":null}
    {"id":1,"petId":2.5}
  complete is not true or false
    {"id":1,"complete":"true"}
  status is not one of pending, shipped, cancelled
    {"id":1,"status":"lost"}
  unknown field "colour"
    {"id":1,"colour":"red"}
  unknown field "__proto__"
    {"id":1,"__proto__":{}}
  "petId" occurs twice in an object
    {"id":1,"petId":2,"petId":3}
    {"petId":2,"\u0070etId":3,"id":1}
    {"id":1,"otherAttributes":{"a":{"M":{"petId":{"S":"}"},"petId" :{"S":"\""}}}}}
  otherAttributes is not a JSON object
    {"id":1,"otherAttributes":[]}
    {"id":1,"otherAttributes":null}
  id is in otherAttributes, too
    {"id":1,"otherAttributes":{"id":{"S":"x"}}}
  __proto__ in otherAttributes can't be imported
    {"id":1,"otherAttributes":{"__proto__":{"S":""}}}
  "\ud800" in otherAttributes is not in DynamoDB's JSON
    {"id":1,"otherAttributes":{"\ud800":{"S":""}}}
  cancelledBy is not the id of an API key
    {"id":1,"cancelledBy":"key_1"}
  cancellationId is not the id of a request
    {"id":1,"cancellationId":""}
    {"id":1,"cancellationId":" a"}
    {"id":1,"cancellationId":"a\u001b"}
    {"id":1,"cancellationId":null}
    {"id":1,"cancellationId":"${"x".repeat(101)}"}
  cancelledAt lacks seconds: write 2027-12-31T12:00:00+05:30
    {"id":1,"cancelledAt":"2027-12-31T12:00+05:30"}
  cancelledAt lacks a time zone: write 2027-12-31T12:00:05Z
    {"id":1,"cancelledAt":"2027-12-31T12:00:05"}
  cancelledAt lacks seconds and a time zone: write 2027-12-31T12:00:00Z
    {"id":1,"cancelledAt":"2027-12-31T12:00"}
  shipDate ${dateRule}
    {"id":1,"shipDate":"2026-02-30T00:00Z"}
    {"id":1,"shipDate":"2027-12-31"}
    {"id":1,"shipDate":"soon"}
    {"id":1,"shipDate":{"toString":1}}
  shipDate ${dateRule}; petId is not a 64-bit integer; id is missing
    {"shipDate":"0000-01-01T00:00:00Z","petId":"x"}`;

test.each([
  ...rejected
    .split(/\n {2}(?! )/)
    .slice(1)
    .map((part): [string, string[]] => {
      const [problem = "", ...lines] = part.split(/\n +/);
      return [problem, lines];
    }),
  ["otherAttributes has more than 32 levels", [nested(33), nested(500)]],
  [
    "otherAttributes has a name that is not 1 to 65,535 bytes long",
    ["", "x".repeat(65_536), "\u00e9".repeat(32_768)].flatMap((name) => [
      `{"id":1,"otherAttributes":{"b":{"S":""},"${name}":{"S":""}}}`,
      `{"id":1,"otherAttributes":{"a":{"L":[{"M":{"${name}":{"S":""}}}]}}}`,
    ]),
  ],
  [
    `"colour" in otherAttributes is not in DynamoDB's JSON`,
    String.raw`"red" 5 null {} {"s":"red"} {"S":"red","N":"1"} {"S":5} {"S":"\ud800"} {"N":5}
      {"N":"five"} {"N":"123456789012345678901234567890123456789"} {"N":"1E126"}
      {"N":"0.1E-130"} {"NS":["1","1.0"]} {"B":"AP8"} {"BOOL":"true"} {"NULL":false}
      {"SS":[]} {"SS":["a","a"]} {"NS":["a"]} {"BS":["AA==","AA=="]} {"L":{}}
      {"L":["red"]} {"SS":"red"} {"M":[]} {"M":{"colour":"red"}} {"M":{"\ud800":{"S":""}}}`
      .split(/\s+/)
      .map((colour) => `{"id":1,"otherAttributes":{"colour":${colour}}}`),
  ],
])("a line is rejected because %s", (problem, lines) => {
  const problems = problem.split("; ");
  expect(lines.map(parseOrderLine)).toEqual(lines.map(() => ({ problems })));
});

test.each([
  ['{"id":1,}', /^not JSON: .* \(line 1 column 9\)$/],
  ["not json", /^not JSON: Unexpected token 'o'/],
  ["[".repeat(20_000) + "]".repeat(20_000), /^not JSON: .*call stack/],
])("a line is rejected with what JSON.parse says of it: %.20s", (line, problem) => {
  expect(parseOrderLine(line)).toEqual({ problems: [expect.stringMatching(problem)] });
});

test.each([
  ["a cancellationId of 100 characters", `"cancellationId":"${"x".repeat(100)}"`],
  ["a name of 65,535 bytes", `"otherAttributes":{"${"x".repeat(65_535)}":{"S":""}}`],
])("a line may have %s", (_, member) => {
  expect(parseOrderLine(`{"id":1,${member}}`)).toHaveProperty("item");
});

test("an attribute may have any number that DynamoDB accepts, and nothing else", () => {
  const accepted = [
    `1${"0".repeat(40)}`,
    `0.${"0".repeat(40)}1`,
    `00.1${"0".repeat(40)}`,
    `-0${"0".repeat(40)}`,
    `${"9".repeat(38)}E+88`,
    "1E-130",
    "0E300",
    "-1.5e-7",
  ];
  const rejected = ["", "1x", "x1", " 1", "1.", ".5", "1e", "--1", "+1"];
  const all = [...accepted, ...rejected];
  expect(all.filter((N) => isAttribute({ N }))).toEqual(accepted);
  expect(all.filter((N) => isAttribute({ NS: ["7", N] }))).toEqual(accepted);
});

const comparisons = `
  {"N":"1.50"} is {"N":"1.5"}
  {"N":"007"} is {"N":"7"}
  {"N":"12E1"} is {"N":"120"}
  {"N":"0.012"} is {"N":"1.2e-2"}
  {"N":"-0.0"} is {"N":"0"}
  {"NS":["1.0","2"]} is {"NS":["2","1"]}
  {"NS":["12","2"]} is {"NS":["02","12"]}
  {"M":{"N":{"N":"1.0"},"NS":{"NS":["10"]}}} is {"M":{"N":{"N":"1"},"NS":{"NS":["1E1"]}}}
  {"M":{"\u00e9":{"N":"1"},"e\u0301":{"N":"2"}}} is {"M":{"e\u0301":{"N":"2"},"\u00e9":{"N":"1"}}}
  {"N":"1.5"} is not {"N":"15"}
  {"N":"1"} is not {"N":"-1"}
  {"N":"1"} is not {"N":"10"}
  {"S":"1.0"} is not {"S":"1"}
  {"SS":["1.0"]} is not {"SS":["1"]}
  {"L":[{"N":"1"},{"N":"2"}]} is not {"L":[{"N":"2"},{"N":"1"}]}`;
test.each(comparisons.trim().split(/\n +/))("%s", (comparison) => {
  const [one = "", other = ""] = comparison.split(/ is (?:not )?/);
  const [a, b] = [{ a: JSON.parse(one) }, { a: JSON.parse(other) }];
  expect(differingAttributes(a, b)).toEqual(comparison.includes(" not ") ? ["a"] : []);
  expect(differingAttributes(a, {})).toEqual(["a"]);
});
