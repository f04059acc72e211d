import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type FileLine, longestLine, readLines } from "../../infra/orders-file/file-lines.ts";

const folder = await mkdtemp(join(tmpdir(), "file-lines-test-"));
afterAll(() => rm(folder, { recursive: true }));

async function linesOf(content: string): Promise<FileLine[]> {
  const file = join(folder, "lines");
  await writeFile(file, content);
  return (await Array.fromAsync(readLines(file))).flat();
}

test("lines are whole wherever a block ends", async () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `{"ü":${"7".repeat(at % 61)}}`);
  const expected = lines.map((text, at) => ({ number: at + 1, text }));
  for (const padding of ["", " ", "  ", "   "]) {
    const [first, ...rest] = await linesOf(padding + lines.join("\n"));
    expect(first?.text?.trim()).toBe(lines[0]);
    expect(rest).toEqual(expected.slice(1));
  }
});

test("lines end with LF or CRLF; blank ones are skipped but counted", async () => {
  expect(await linesOf("a\r\n\n  \r\nb\n\n")).toEqual([
    { number: 1, text: "a" },
    { number: 4, text: "b" },
  ]);
  expect(await linesOf("")).toEqual([]);
});

test("a byte order mark at the beginning is not part of the first line", async () => {
  expect(await linesOf("\ufeffa\n\ufeffb")).toEqual([
    { number: 1, text: "a" },
    { number: 2, text: "\ufeffb" },
  ]);
  expect(await linesOf("\ufeff\n")).toEqual([]);
});

test("a line longer than any order has no text, however long it is", async () => {
  const longest = "x".repeat(longestLine);
  const lines = await linesOf(`${longest}\r\n${longest}x\nb`);
  // Comparing the texts themselves would take seconds.
  expect(lines.map(({ number, text }) => [number, text?.length])).toEqual([
    [1, longestLine],
    [2, undefined],
    [3, 1],
  ]);
});
