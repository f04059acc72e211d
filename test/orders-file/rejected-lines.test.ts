import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { parseOrderLine } from "../../infra/orders-file/order-line.ts";

/** The problems of a line, as people read them. */
function parse(line: string) {
  const parsed = parseOrderLine(line);
  return "item" in parsed ? parsed : { problems: parsed.problems.map(({ text }) => text) };
}

describe("a line of an orders file", () => {
  test.each([
    ["{", "(line 1 column 2)"],
    ['{"id":1,}', "(line 1 column 9)"],
    ['{"id": tru}', "Unexpected token '}'"],
    ["not json", "Unexpected token 'o'"],
    ["{'id':1}", "(line 1 column 2)"],
    ['{"id":1} x', "(line 1 column 10)"],
    ['{"id":1}//x', "(line 1 column 9)"],
    ["[".repeat(20_000) + "]".repeat(20_000), "call stack"],
  ])("is rejected with what JSON.parse says of it: %.20s", (line, reason) => {
    const text = expect.stringContaining(reason);
    expect(parseOrderLine(line)).toEqual({ problems: [{ kind: "not JSON", text }] });
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
    [
      "cancelledBy is not the id of an API key",
      ["", "key_1", "pets_test_1", "key_0123456789abcdeF"].map(
        (id) => `{"id":1,"cancelledBy":"${id}"}`,
      ),
    ],
    [
      "cancellationId is not the id of a request",
      ["", " ", "\\u001b"].map((id) => `{"id":1,"cancellationId":"${id}"}`),
    ],
    [
      "shipDate lacks seconds: write 2027-12-31T12:00:00Z",
      ['{"id":1,"shipDate":"2027-12-31T12:00Z"}'],
    ],
    [
      "cancelledAt lacks a time zone: write 2027-12-31T12:00:00Z",
      ['{"id":1,"cancelledAt":"2027-12-31T12:00:00"}'],
    ],
    [
      "otherAttributes is not a JSON object",
      ['{"id":1,"otherAttributes":[]}', '{"id":1,"otherAttributes":null}'],
    ],
    [
      "petId is in otherAttributes, too",
      ['{"id":1,"petId":7,"otherAttributes":{"petId":{"N":"7"}}}'],
    ],
    ["id is in otherAttributes, too", ['{"id":1,"otherAttributes":{"id":{"S":"x"}}}']],
  ])("is rejected because %s", (problem, lines) => {
    test.each(lines)("%s", (line) => {
      expect(parse(line)).toEqual({ problems: [problem] });
    });
  });

  test("is rejected with every reason", () => {
    expect(parse('{"shipDate":"2026-02-30T00:00:00Z","petId":"x"}')).toEqual({
      problems: [
        "shipDate is not an RFC 3339 date-time " +
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
  expect(await once(worker, "message")).toMatchObject([{ problems: [{ kind: "not JSON" }] }]);
});
