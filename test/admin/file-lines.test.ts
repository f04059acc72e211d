import { open } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FileLine, longestLine, readLines } from "../../infra/orders-file/file-lines.ts";
import { createOperator, type Operator } from "../helpers/admin/admin-process.ts";

let operator: Operator;
beforeAll(async () => {
  operator = await createOperator();
});
afterAll(() => operator.leave());

async function linesOf(content: string): Promise<FileLine[]> {
  await using file = await open(await operator.write("lines", content));
  return (await Array.fromAsync(readLines(file))).flat();
}

test("a file's lines are the same wherever its blocks end", async () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `{"ü":${"7".repeat(at % 61)}}`);
  const expected = lines.map((text, at) => ({ number: at + 1, text }));
  for (const padding of ["", " ", "  ", "   "]) {
    const [first, ...rest] = await linesOf(padding + lines.join("\n"));
    expect(first?.text?.trim()).toBe(lines[0]);
    expect(rest).toEqual(expected.slice(1));
  }
});

test("line ends are LF or CRLF, and blank lines only count", async () => {
  expect(await linesOf("a\r\n\n  \r\nb\n\n")).toEqual([
    { number: 1, text: "a" },
    { number: 4, text: "b" },
  ]);
  expect(await linesOf("")).toEqual([]);
});

test("a line longer than any order has no text, however long it is", async () => {
  const longest = "x".repeat(longestLine);
  expect(await linesOf(`${longest}\r\n${longest}x\n${longest.repeat(20)}\nb`)).toEqual([
    { number: 1, text: longest },
    { number: 2, text: undefined },
    { number: 3, text: undefined },
    { number: 4, text: "b" },
  ]);
});
