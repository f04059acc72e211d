import { describe, expect, test } from "vitest";
import { createOperator } from "../helpers/admin/admin-process.ts";
import { runHere } from "../helpers/admin/command-here.ts";
import { makeLines } from "../helpers/admin/order-file-lines.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";

const [tables, operator] = await Promise.all([createTestTables(), createOperator()]);
await operator.pointTo(tables);
const importHere = (...args: string[]) => runHere(tables, ["orders", "import", ...args]);

const badLines: [string, string][] = [
  ["not json", "1: not JSON"],
  ['{"id":1', "8: not JSON"],
  ["[1]", "not a JSON object"],
  ["null", "not a JSON object"],
  ['{"petId":1}', "id is missing"],
  ['{"id":"1"}', "id is not a 64-bit integer"],
  ['{"id":9223372036854775808}', "id is not a 64-bit integer"],
  ['{"id":1.0}', "id is not a 64-bit integer"],
  ['{"id":-0}', "id is not a 64-bit integer"],
  ['{"id":1,"petId":-9223372036854775809}', "petId is not a 64-bit integer"],
  ['{"id":1,"quantity":1.5}', "quantity is not a 64-bit integer"],
  ['{"id":1,"shipDate":"2026-02-30T00:00:00Z"}', "shipDate is not an ISO 8601 date-time"],
  [
    '{"id":1,"shipDate":"0000-12-31T00:00:00Z"}',
    "shipDate is not an ISO 8601 date-time (years 0001 to 9999, Z or an offset of at most 18:00)",
  ],
  [
    '{"id":1,"shipDate":"2026-02-28T00:00:00+18:01"}',
    "shipDate is not an ISO 8601 date-time (years 0001 to 9999, Z or an offset of at most 18:00)",
  ],
  ['{"id":1,"shipDate":"2026-02-28"}', "shipDate is not an ISO 8601 date-time"],
  ['{"id":1,"shipDate":1764547200}', "shipDate is not an ISO 8601 date-time"],
  ['{"id":1,"complete":"true"}', "complete is not true or false"],
  ['{"id":1,"status":"held"}', "status is not one of pending, shipped, cancelled"],
  ['{"id":1,"colour":"red"}', 'unknown field "colour"'],
  ['{"id":1,"__proto__":{}}', 'unknown field "__proto__"'],
  ['{"id":1,"\\u001b[2J":1}', String.raw`unknown field "\u001b[2J"`],
  ['{"id":1,"\u009b2J":1}', String.raw`unknown field "\u009b2J"`],
  ['{"id":1,"id":2}', '"id" appears twice'],
  ['{"id":1,"status":"shipped","cancelledBy":"key_1"}', "cancelledBy is only for a cancelled order"],
  ['{"petId":"x","complete":0}', "petId is not a 64-bit integer; complete is not true or false; id is missing"],
  ['{"id":1,"otherAttributes":{"colour":"red"}}', '"colour" in otherAttributes is not in DynamoDB\'s JSON'],
  ['{"id":5}', "id 5 is already on line 2"],
];

describe("orders import of a bad file", () => {
  test("names every bad line and writes nothing", async () => {
    const lines = ['{"id":4}', '{"id":5}', ...badLines.map(([line]) => line), '{"id":6}'];
    const file = await operator.write("bad.ndjson", lines.join("\n"));
    const { code, stdout, stderr } = await importHere(file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const printed = stderr.trimEnd().split("\n");
    expect(printed.pop()).toBe(`${badLines.length} of ${lines.length} lines are bad: nothing was written`);
    const places = badLines.map(([, reason], at) => `${file}:${at + 3}:${/^\d/.test(reason) ? "" : " "}${reason}`);
    expect(printed).toEqual(places.map((line) => expect.stringContaining(line)));
    expect(stderr).not.toMatch(/[^\P{C}\n]/u);
    const json = await importHere(file, "--json");
    expect(json).toMatchObject({ code: 1, stderr });
    const report = JSON.parse(json.stdout);
    const counts = { bad: badLines.length, orders: lines.length, written: 0, alreadyThere: 0 };
    expect(report).toMatchObject({ ...counts, notWritten: lines.length });
    expect(report.badLines.map(({ line }: { line: number }) => line)).toEqual(badLines.map((_, at) => at + 3));
    expect(await tables.items("orders")).toEqual([]);
  });

  test("needs a heap that could not hold all its orders", async () => {
    const lines = makeLines(50_000).join("\n");
    const file = await operator.write("many.ndjson", `${lines}\n{"id":0}\n`);
    const env = { NODE_OPTIONS: "--max-old-space-size=30" };
    expect(await operator.run(["orders", "import", file, "--local"], { env })).toEqual({
      code: 1,
      stdout: "",
      stderr: `${file}:50001: id 0 is already on line 1\n1 of 50001 lines are bad: nothing was written\n`,
    });
  });

  test("fails for a folder and a missing file", async () => {
    const { folder } = operator;
    const failed = { code: 1, stdout: "" };
    expect(await importHere(folder)).toEqual({ ...failed, stderr: `${folder} is a folder\n` });
    expect(await importHere(`${folder}/none`)).toEqual({
      ...failed,
      stderr: `${folder}/none: no such file or directory\n`,
    });
  });
});
