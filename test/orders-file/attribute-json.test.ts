import { expect, test } from "vitest";
import { isAttribute, sameAttribute } from "../../infra/orders-file/attribute-json.ts";

test.each([
  [{ N: "1.50" }, { N: "1.5" }],
  [{ N: "007" }, { N: "7" }],
  [{ N: "12E1" }, { N: "120" }],
  [{ N: "0.012" }, { N: "1.2e-2" }],
  [{ N: "-0.0" }, { N: "0" }],
  [{ NS: ["1.0", "2"] }, { NS: ["2", "1"] }],
  [{ NS: ["12", "2"] }, { NS: ["02", "12"] }],
  [{ M: { N: { N: "1.0" }, NS: { NS: ["10"] } } }, { M: { N: { N: "1" }, NS: { NS: ["1E1"] } } }],
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
])("%j has another value than %j", (a, b) => {
  expect(sameAttribute(a, b)).toBe(false);
});

test.each(["", "1x", "x1", " 1", "1.", ".5", "1e", "--1", "+1"])("%j is not a number in DynamoDB's JSON", (number) => {
  expect(isAttribute({ N: number })).toBe(false);
  expect(isAttribute({ NS: ["1", number] })).toBe(false);
});
