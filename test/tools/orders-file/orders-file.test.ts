import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { formatOrderLine } from "../../../infra/tools/orders-file/order-line.ts";
import { checkOrders } from "../../../infra/tools/orders-file/orders-file.ts";
import { CommandError } from "../../../infra/tools/terminal/errors.ts";
import { longestLine } from "../../../infra/tools/terminal/input.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const { path: folder, remove } = await temporaryFolder();
afterAll(remove);
const file = join(folder, "\u001b.ndjson");
const list = "is a JSON array. A list from the API lacks statuses: use `orders export`";
const put = (...lines: string[]) => writeFile(file, `${lines.join("\n")}\n`);

async function read() {
  using orders = await checkOrders(file);
  return [...orders.read()].map(({ item }) => item);
}

/** The orders of the file, or the problems that a check finds, a line each. */
const checked = async () => {
  const orders = await read().catch((error: Error) => error.message);
  return typeof orders === "string"
    ? orders.replaceAll(String.raw`${folder}/\u{1b}.ndjson:`, "").split("\n")
    : orders.map(({ id }) => id?.N);
};

describe("checking an orders file", () => {
  test("reports every bad line and every repeated id, under the name that the user gave", async () => {
    const lines = Array.from({ length: 3000 }, (_, id) => `{"id":${-id}}`);
    await put(
      ...lines,
      '{"id":-2999}',
      "[]",
      "",
      '  {"id": 2,}',
      '{"id":-5}',
      '{"\u009b2J":1}',
    );
    expect(await checked()).toEqual([
      "3001: id -2999 is already on line 3000",
      "3002: not a JSON object",
      expect.stringMatching(/^3004: not JSON: .* \(line 1 column 12\)$/),
      "3005: id -5 is already on line 6",
      String.raw`3006: unknown field "\u009b2J"; id is missing`,
      "5 of 3,005 lines are bad: nothing was written",
    ]);
  });

  test("reports twenty lines of a kind and counts the rest", async () => {
    const many = (what: (id: number) => string) =>
      Array.from({ length: 22 }, (_, id) => what(id));
    await put(
      ...many((id) => `{"id":${id},"colour \\" ${id}":"red"}`),
      ...many((id) => `{"id":${id % 2 === 0 ? -7 : -6}}`),
      ...many((id) => `{"id":1${"}".repeat(id + 2)}`),
      ...many((id) => `{"id":${id},"otherAttributes":{"${id}":1}}`),
      ...many((id) => `{"id":${id},"shipDate":"2027-12-31T12:${id + 10}Z"}`),
      '{"id":8,"complete":1,"petId":"x"}',
    );
    const lines = await checked();
    expect(lines).toHaveLength(5 * 20 + 1 + 4 + 1);
    expect(lines.slice(-6)).toEqual([
      "111: complete is not true or false; petId is not a 64-bit integer",
      "and 2 more: unknown field ...",
      "and 2 more: not JSON",
      "and 2 more: ... in otherAttributes is not in DynamoDB's JSON",
      "and 2 more: shipDate lacks seconds",
      "109 of 111 lines are bad: nothing was written",
    ]);
  });

  test("reports each line that is not UTF-8, even if the rest of it is right", async () => {
    const latin1 = Buffer.from(
      '{"id":2,"otherAttributes":{"name":{"S":"caf\u00e9"}}}\n',
      "latin1",
    );
    const cut = Buffer.from('{"id":4}\u00fc').subarray(0, -1);
    await writeFile(file, Buffer.concat([Buffer.from('{"id":1}\n'), latin1, cut]));
    const counts = "2 of 3 lines are bad: nothing was written";
    expect(await checked()).toEqual(["2: not UTF-8", "3: not UTF-8", counts]);
  });

  test("rejects a line that is longer than any order, without reading on", async () => {
    // 400 KB of numbers like 1E+125: 3 bytes in the table, 135 in a line.
    expect(longestLine).toBeGreaterThan((400 * 1024 * 135) / 3);
    const longest = `{"id":1}${" ".repeat(longestLine - 8)}`;
    await writeFile(file, longest);
    expect(await checked()).toEqual(["1"]);
    // More than a string can hold.
    await truncate(file, 2 ** 31);
    await expect(checkOrders(file)).rejects.toEqual(
      new CommandError(
        `${file} has a line of more than ${longestLine / 2 ** 20} MB. Each order needs a line of its own`,
      ),
    );
  });

  test.each([
    ["a gzip", gzipSync('{"id":1}\n'), "is compressed: unpack it first"],
    ["a saved list", '[{"id":1},{"id":2}]', list],
    ["a list on lines of its own", '\n [\n{"id":1}\n]\n', list],
    ["CSV", "id,petId\n1,2\n", "is not JSON"],
    ["UTF-16", Buffer.from('\ufeff{"id":1}\n', "utf16le"), "is not JSON"],
  ])("says what is wanted instead of %s", async (_, content, problem) => {
    await writeFile(file, content);
    await expect(checkOrders(file)).rejects.toEqual(
      new CommandError(
        `${file} ${problem}. Each order needs a line like {"id":7,"status":"pending"}`,
      ),
    );
  });
});

describe("reading an orders file", () => {
  // Each padding makes the blocks end elsewhere, also within characters.
  test.each(["", " ", "  ", "   "])(
    "keeps lines and characters whole, after %j",
    async (padding) => {
      const orders = Array.from({ length: 800 }, (_, id) => ({
        id: { N: String(id) },
        ü: { S: "€".repeat(id) },
        status: { S: "pending" },
      }));
      await writeFile(file, padding + orders.map(formatOrderLine).join("\n"));
      expect(await read()).toEqual(orders);
    },
  );

  test("tells ids apart that are the same JavaScript number", async () => {
    await put('{"id":9007199254740992}', '{"id":9007199254740993}');
    expect(await checked()).toEqual(["9007199254740992", "9007199254740993"]);
  });
});
