import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type BadLine, checkOrders, OrdersFileError, readOrders } from "../../infra/orders-file/orders-file.ts";

const folder = await mkdtemp(join(tmpdir(), "orders-file-test-"));
afterAll(() => rm(folder, { recursive: true }));
const file = join(folder, "orders.ndjson");
const put = (...lines: string[]) => writeFile(file, `${lines.join("\n")}\n`);

describe("checking", () => {
  test("without a listener stops at the first bad line, naming file, line and problem", async () => {
    await put('{"id":1}', "", '{"id":2,"petId":1.5}', "{}");
    await expect(checkOrders(file)).rejects.toEqual(
      new OrdersFileError(`${file}, line 3: petId is not a 64-bit integer`),
    );
    await put('{"id":1}', '{"id":2}', '{"id":1}');
    await expect(checkOrders(file)).rejects.toEqual(new OrdersFileError(`${file}, line 3: id 1 is already on line 1`));
  });

  test("with a listener reports every bad line, and every repetition of an id", async () => {
    await put('{"id":1}', "[]", '{"id":1}', '{"id":2}', "", "{", '{"id":1}');
    const bad: BadLine[] = [];
    expect(await checkOrders(file, { onBad: async (line) => void bad.push(line) })).toEqual({ orders: 6, bad: 4 });
    expect(bad).toEqual([
      { line: 2, problems: ["not a JSON object"] },
      { line: 6, problems: ["not JSON"] },
      { line: 3, problems: ["id 1 is already on line 1"] },
      { line: 7, problems: ["id 1 is already on line 1"] },
    ]);
  });

  test("rejects a pipe without waiting for its writer", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    await expect(checkOrders(pipe)).rejects.toEqual(
      new OrdersFileError(`${pipe} is a pipe, and an orders file is read twice`),
    );
  });

  test("says how far it has read, up to the whole file", async () => {
    const lines = Array.from({ length: 20_000 }, (_, id) => `{"id":${id}}`);
    await put(...lines);
    const read: number[] = [];
    await checkOrders(file, { onRead: (bytes) => void read.push(bytes) });
    expect(read.length).toBeGreaterThan(0);
    expect(read).toEqual(read.toSorted((a, b) => a - b));
    expect(read.at(-1)).toBe(lines.join("\n").length + 1);
  });

  test("names a file that can't be read", async () => {
    await expect(checkOrders(join(folder, "none"))).rejects.toEqual(
      new OrdersFileError(`${join(folder, "none")}: no such file or directory`),
    );
  });
});

describe("reading", () => {
  const read = (orders: number) => Array.fromAsync(readOrders(file, orders));

  test("gives the orders of a checked file", async () => {
    await put('{"id":2,"status":"shipped"}', "", '{"id":1}');
    const { orders } = await checkOrders(file);
    expect(await read(orders)).toEqual([
      { id: { N: "2" }, status: { S: "shipped" } },
      { id: { N: "1" }, status: { S: "pending" } },
    ]);
  });

  test.each([
    ["a line is now bad", ['{"id":1}', '{"id":"2"}'], "line 2 is not what was checked"],
    ["it has more orders", ['{"id":1}', '{"id":2}', '{"id":3}'], "line 3 is not what was checked"],
    ["it has fewer orders", ['{"id":1}'], "1 of 2 orders are left"],
  ])("fails when the file has changed since it was checked: %s", async (_, lines, why) => {
    await put('{"id":1}', '{"id":2}');
    const { orders } = await checkOrders(file);
    await put(...lines);
    await expect(read(orders)).rejects.toEqual(new OrdersFileError(`${file} changed while it was being read: ${why}`));
  });
});
