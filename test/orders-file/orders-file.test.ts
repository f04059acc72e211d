import { execFileSync } from "node:child_process";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkOrders, longestLine, readOrders } from "../../infra/orders-file/orders-file.ts";
import { CommandError } from "../../infra/terminal/errors.ts";
import type { OrderItem } from "../../shared/order.ts";

const folder = await mkdtemp(join(tmpdir(), "orders-file-test-"));
afterAll(() => rm(folder, { recursive: true }));
const file = { name: "typed.ndjson", path: join(folder, "orders.ndjson") };
const put = (...lines: string[]) => writeFile(file.path, `${lines.join("\n")}\n`);

/** The problems that a check finds in the file. */
const problems = () =>
  checkOrders(file).then(
    () => "nothing",
    (error: Error) => error.message,
  );

describe("checking an orders file", () => {
  test("reports every bad line under the file name that the user gave", async () => {
    await put('{"id":1}', "[]", "", '{"id":2,"\u009b2J":1}');
    expect((await problems()).split("\n")).toEqual([
      "typed.ndjson:2: not a JSON object",
      String.raw`typed.ndjson:4: unknown field "\u009b2J"`,
      "2 of 3 lines are bad: nothing was written",
    ]);
  });

  test("reports where a line stops being JSON", async () => {
    await put('{"id":1}', '  {"id": 2,}');
    expect(await problems()).toMatch(/^typed\.ndjson:2: not JSON: .* column 12\)$/m);
  });

  test("reports every repetition of an id, in the order of the lines", async () => {
    const lines = Array.from({ length: 3000 }, (_, id) => `{"id":${-id}}`);
    await put(...lines, '{"id":-2999}', "[]", "", '{"id":-2999}');
    expect((await problems()).split("\n").slice(0, 3)).toEqual([
      "typed.ndjson:3001: id -2999 is already on line 3000",
      "typed.ndjson:3002: not a JSON object",
      "typed.ndjson:3004: id -2999 is already on line 3000",
    ]);
  });

  test("escapes a file name that could control a terminal", async () => {
    await put("{");
    const report = await checkOrders({ ...file, name: "\u001b[2J" }).catch(
      (error: Error) => error.message,
    );
    expect(report).toContain(String.raw`\u{1b}[2J:1: not JSON`);
  });

  test("reports twenty lines of a kind and counts the rest", async () => {
    const unknown = Array.from({ length: 25 }, (_, id) => `{"id":${id},"colour ${id}":"red"}`);
    const repeated = Array.from({ length: 22 }, (_, line) => `{"id":${line % 2 === 0 ? -7 : -6}}`);
    await put(...unknown, ...repeated, '{"id":8,"complete":1,"petId":"x"}');
    const lines = (await problems()).split("\n");
    expect(lines).toHaveLength(20 + 20 + 1 + 1 + 1);
    expect(lines.filter((line) => line.includes("unknown field"))).toHaveLength(21);
    expect(lines.slice(-3)).toEqual([
      "typed.ndjson:48: complete is not true or false; petId is not a 64-bit integer",
      "and 5 more: unknown field ...",
      "46 of 48 lines are bad: nothing was written",
    ]);
  });

  test("reports each line that is not UTF-8, even if the rest of it is right", async () => {
    const latin1 = Buffer.from('{"id":2,"otherAttributes":{"name":{"S":"caf\u00e9"}}}\n', "latin1");
    const cut = Buffer.from('{"id":4}\u00fc').subarray(0, -1);
    await writeFile(
      file.path,
      Buffer.concat([Buffer.from('{"id":1}\n'), latin1, Buffer.from('{"id":3}\n'), cut]),
    );
    expect((await problems()).split("\n")).toEqual([
      "typed.ndjson:2: not UTF-8",
      "typed.ndjson:4: not UTF-8",
      "2 of 4 lines are bad: nothing was written",
    ]);
  });

  test("rejects a pipe without waiting for its writer", async () => {
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    await expect(checkOrders({ name: "pipe", path })).rejects.toEqual(
      new CommandError("pipe is a pipe, and an orders file is read twice"),
    );
  });

  test("stops at a line that is longer than any order", async () => {
    const longest = " ".repeat(longestLine - 8);
    await writeFile(file.path, `{"id":1}${longest}\n{"id":2}${longest} \nnot JSON\n`);
    expect((await problems()).split("\n")).toEqual([
      `typed.ndjson:2: longer than 20,971,520 bytes, so the rest was not checked`,
      "1 of 2 lines is bad: nothing was written",
    ]);
  });

  test("reads little beyond the longest line, however large the file is", async () => {
    await writeFile(file.path, "");
    await truncate(file.path, 2 ** 31);
    let read = 0;
    await expect(checkOrders(file, (bytes) => (read = bytes))).rejects.toThrow(
      "typed.ndjson:1: longer than",
    );
    expect(read).toBeLessThan(longestLine + 1_000_000);
  });

  test("names a file that can't be read", async () => {
    await expect(checkOrders({ name: "none", path: join(folder, "none") })).rejects.toEqual(
      new CommandError("none: no such file or directory"),
    );
  });
});

describe("reading an orders file", () => {
  const read = (orders: number) => Array.fromAsync(readOrders(file, orders));

  const ids = async (content: string | Buffer): Promise<(string | undefined)[]> => {
    await writeFile(file.path, content);
    return (await read(await checkOrders(file))).map(({ id }) => id?.N);
  };

  // Each padding makes the blocks end elsewhere, also within characters.
  describe.each(["", " ", "  ", "   "])("of several blocks, padded with %j,", (padding) => {
    const ids = Array.from({ length: 4_000 }, (_, id) => id);
    const textOf = (id: number) => "€".repeat(id % 61);
    let orders: OrderItem[];
    beforeAll(async () => {
      const lines = ids.map((id) => `{"id":${id},"otherAttributes":{"ü":{"S":"${textOf(id)}"}}}`);
      await writeFile(file.path, padding + lines.join("\n"));
      orders = await read(await checkOrders(file));
    });

    test("keeps lines whole", () => {
      expect(orders.map(({ id }) => id?.N)).toEqual(ids.map(String));
    });

    test("keeps characters whole", () => {
      expect(orders.map((order) => order["ü"]?.S)).toEqual(ids.map(textOf));
    });
  });

  test("tells ids apart that are the same JavaScript number", async () => {
    expect(await ids('{"id":9007199254740992}\n{"id":9007199254740993}')).toEqual([
      "9007199254740992",
      "9007199254740993",
    ]);
  });

  test.each([
    ["LF", '{"id":1}\n{"id":2}\n', ["1", "2"]],
    ["CRLF", '{"id":1}\r\n{"id":2}\r\n', ["1", "2"]],
    ["no line break at its end", '{"id":1}', ["1"]],
    ["blank lines", '\n{"id":1}\r\n\n  \r\n{"id":2}', ["1", "2"]],
    ["a byte order mark at the beginning", '\ufeff{"id":1}', ["1"]],
    ["nothing but a byte order mark", "\ufeff\n", []],
    ["nothing", "", []],
  ])("accepts a file with %s", async (_, text, expected) => {
    expect(await ids(text)).toEqual(expected);
  });

  test.each([
    ["a line is now bad", ['{"id":1}', '{"id":"2"}'], "line 2 is not what was checked"],
    ["it has more orders", ['{"id":1}', '{"id":2}', '{"id":3}'], "line 3 is not what was checked"],
    ["it has fewer orders", ['{"id":1}'], "1 of 2 orders are left"],
  ])("fails when the file has changed since it was checked: %s", async (_, lines, why) => {
    await put('{"id":1}', '{"id":2}');
    const orders = await checkOrders(file);
    await put(...lines);
    await expect(read(orders)).rejects.toEqual(
      new CommandError(`typed.ndjson changed while it was being read: ${why}`),
    );
  });
});
