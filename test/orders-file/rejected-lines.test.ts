import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { parseOrderLine } from "../../infra/orders-file/order-line.ts";

/** The parsed line, with its problems as people read them. */
function parse(line: string) {
  const parsed = parseOrderLine(line);
  return "item" in parsed
    ? parsed
    : { ...parsed, problems: parsed.problems.map(({ text }) => text) };
}

describe("a line of an orders file", () => {
  test.each([
    ["{", 2],
    ['{"id":1,}', 9],
    ['{"id": tru}', 8],
    ["not json", 1],
    ["{'id':1}", 2],
    ['{"id":1} x', 10],
    ['{"id":1}//x', 9],
  ])("is rejected at the column where it stops being JSON: %s", (line, column) => {
    expect(parse(line)).toEqual({ problems: ["not JSON"], column });
  });

  const opening = "[".repeat(20_000);
  const closing = "]".repeat(20_000);
  test.each([
    ["open", opening],
    ["closed", opening + closing],
  ])("is rejected without a column when it nests too deeply, in %s arrays", (_, line) => {
    expect(parse(line)).toEqual({ problems: ["not JSON"], column: undefined });
  });

  describe.each([
    ["not a JSON object", ["[]", "null", "1"]],
    ["id is missing", ["{}", '{"otherAttributes":{"id":{"S":"x"}}}']],
    [
      "id is not a 64-bit integer",
      ['{"id":"1"}', '{"id":1.0}', '{"id":1e2}', '{"id":-0}', '{"id":9223372036854775808}'],
    ],
    ["petId is not a 64-bit integer", ['{"id":1,"petId":null}']],
    ["quantity is not a 64-bit integer", ['{"id":1,"quantity":2.5}']],
    ["complete is not true or false", ['{"id":1,"complete":"true"}']],
    ["status is not one of pending, shipped, cancelled", ['{"id":1,"status":"lost"}']],
    ['unknown field "colour"', ['{"id":1,"colour":"red"}']],
    ['unknown field "__proto__"', ['{"id":1,"__proto__":{}}']],
    ["cancelledBy is only for a cancelled order", ['{"id":1,"cancelledBy":"key_1"}']],
    [
      "cancelledBy is not the id of an API key",
      ['{"id":1,"status":"cancelled","cancelledBy":"\\u001b"}'],
    ],
    [
      '"id" appears twice',
      [
        '{"id":1,"id":2}',
        '{"id":1,"\\u0069d":2}',
        '{"id":1,"otherAttributes":{"a":{"L":[{"S":""},{"S":""}]}},"id":2}',
      ],
    ],
    ['"b" appears twice', ['{"id":1,"otherAttributes":{"a":{"M":{"b":{"S":"1"},"b":{"S":"2"}}}}}']],
    [
      "otherAttributes is not a JSON object",
      ['{"id":1,"otherAttributes":[]}', '{"id":1,"otherAttributes":null}'],
    ],
    [
      "petId belongs beside otherAttributes",
      ['{"id":1,"petId":7,"otherAttributes":{"petId":{"N":"7"}}}'],
    ],
    [
      "status belongs beside otherAttributes",
      ['{"id":1,"otherAttributes":{"status":{"S":"shipped"}}}'],
    ],
    ["id belongs beside otherAttributes", ['{"id":1,"otherAttributes":{"id":{"S":"x"}}}']],
  ])("is rejected because %s", (problem, lines) => {
    test.each(lines)("%s", (line) => {
      expect(parse(line)).toEqual({ problems: [problem] });
    });
  });

  test("is rejected with every reason", () => {
    expect(parse('{"shipDate":"2026-02-30T00:00:00Z","petId":"x"}')).toEqual({
      problems: [
        "shipDate is not an ISO 8601 date-time " +
          "(years 0001 to 9999, Z or an offset of at most 18:00)",
        "petId is not a 64-bit integer",
        "id is missing",
      ],
    });
  });

  test.each([
    '"red"',
    "5",
    "null",
    "{}",
    '{"s":"red"}',
    '{"S":"red","N":"1"}',
    '{"S":5}',
    '{"S":"\\ud800"}',
    '{"N":5}',
    '{"N":"five"}',
    '{"N":"123456789012345678901234567890123456789"}',
    '{"N":"1E126"}',
    '{"N":"0.1E-130"}',
    '{"NS":["1","1.0"]}',
    '{"B":"AP8"}',
    '{"BOOL":"true"}',
    '{"NULL":false}',
    '{"SS":[]}',
    '{"SS":["a","a"]}',
    '{"NS":["a"]}',
    '{"BS":["AA==","AA=="]}',
    '{"L":{}}',
    '{"L":["red"]}',
    '{"M":{"colour":"red"}}',
    '{"M":{"\\ud800":{"S":""}}}',
  ])("is rejected when an attribute is %s", (json) => {
    const problems = ['"colour" in otherAttributes is not in DynamoDB\'s JSON'];
    expect(parse(`{"id":1,"otherAttributes":{"colour":${json}}}`)).toEqual({ problems });
  });

  test("is rejected when an attribute's name has a lone surrogate", () => {
    expect(parse('{"id":1,"otherAttributes":{"\\ud800":{"S":""}}}')).toEqual({
      problems: [String.raw`"\ud800" in otherAttributes is not in DynamoDB's JSON`],
    });
  });
});

test("a long line without any JSON takes little memory", async () => {
  const url = new URL("../../infra/orders-file/order-line.ts", import.meta.url).href;
  const source = `
    const { parentPort } = require("node:worker_threads");
    import("${url}").then(({ parseOrderLine }) => {
      parentPort.postMessage(parseOrderLine("x ".repeat(1_000_000)));
    });
  `;
  const worker = new Worker(source, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 40 } });
  expect(await once(worker, "message")).toMatchObject([
    { problems: [{ text: "not JSON" }], column: 1 },
  ]);
});
