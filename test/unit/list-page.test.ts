import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import {
  type DynamoDBClient,
  ScanCommand,
  type ScanCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { AwsJson1_0Protocol } from "@aws-sdk/core/protocols";
import { HttpResponse } from "@smithy/core/protocols";
import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { createClient } from "../../shared/dynamodb.ts";
import { orderFields } from "../../shared/order.ts";
import { listPage, ScanProtocol } from "../../shared/scan-protocol.ts";
import { character } from "../helpers/properties.ts";
import { requestId, response, startFakeTable } from "./fake-table.ts";

// Whatever a table responds, a list is the same as with the SDK's own protocol.

const table = await startFakeTable();
const limits = { connectionTimeout: 5_000, requestTimeout: 5_000, maxAttempts: 2 };
const { endpoint } = table;
const clients = [
  createClient(limits, { endpoint }),
  createClient(limits, { endpoint, protocol: ScanProtocol }),
] as const;
const [sdk, ours] = clients;
afterAll(() => {
  for (const client of clients) client.destroy();
});

const pageOf = (output: ScanCommandOutput) => ({
  ...listPage(output),
  json: String(listPage(output).json),
  lastKey: output.LastEvaluatedKey,
});

/** The page that a client reads, or how its call fails, and after how many attempts. */
async function scan(client: DynamoDBClient) {
  table.attempts = 0;
  const outcome = await client
    .send(new ScanCommand({ TableName: "orders" }))
    .then(pageOf, ({ name, $fault, $metadata }) => ({ name, $fault, $metadata }));
  return { outcome, attempts: table.attempts };
}

/** Expects that both protocols make the same of what the table responds. @returns what. */
async function expectSame(what?: unknown) {
  const expected = await scan(sdk);
  expect(await scan(ours), String(what)).toEqual(expected);
  return expected;
}

type Read = (body: string) => Promise<object>;

/** What a client makes of the body of a response, without a server. */
async function reader(client: DynamoDBClient): Promise<Read> {
  const { protocol } = client.config;
  if (!(protocol instanceof AwsJson1_0Protocol)) throw new Error("Another protocol");
  using deserialize = vi.spyOn(protocol, "deserializeResponse");
  await scan(client);
  const [operation, context] = deserialize.mock.lastCall ?? [];
  if (!operation || !context) throw new Error("The client has read no response");
  deserialize.mockRestore();
  return async (body) => {
    const bytes = Buffer.from(body);
    const middle = bytes.length >> 1;
    const sent = Readable.from([bytes.subarray(0, middle), bytes.subarray(middle)]);
    const response = new HttpResponse({ statusCode: 200, body: sent });
    const read = protocol.deserializeResponse<ScanCommandOutput>(
      operation,
      context,
      response,
    );
    return read.then(pageOf, ({ name }) => ({ name }));
  };
}

/** Makes a check that both protocols make the same of a body. */
async function sameReaders() {
  const readers = await Promise.all([reader(sdk), reader(ours)]);
  return async (body: string) => {
    const [expected, actual] = await Promise.all(readers.map((read) => read(body)));
    expect(actual, body).toEqual(expected);
  };
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const longInt64 = fc.bigInt({ min: 9n * 10n ** 18n, max: 10n ** 19n }).map(String);
const oddNumber = fc.constantFrom("-0", "+1", "01", "1.0", "1e3", "-9223372036854775808");
// What else a date-time can't be: order.test.ts.
const oddDate = fc.constantFrom(
  "",
  "2026-02-30T00:00:00Z",
  "2024-02-29t23:59:59z",
  "0000-01-01T00:00:00Z",
  "2026-01-01T24:00:00+18:01",
  "2026-01-01T00:00:00.123456789-18:00",
);
const text = fc.oneof(
  fc.string({ unit: character, maxLength: 5 }),
  fc.constantFrom(
    '"Items":[',
    ']}"',
    "}},{",
    "é".repeat(40),
    '\\"',
    "\n",
    '{"id":{"N":"1"}}',
  ),
);
/** An attribute of another type, which may look like a whole order. */
const other = fc.oneof(
  text.map((S) => ({ S })),
  fc.constantFrom<object>(
    { NULL: true },
    { M: { id: { N: "1" }, petId: { N: "2" } } },
    { L: [{ M: { id: { N: "1" } } }] },
    { NS: ["1", "2"] },
    { B: "AQ==" },
    { BOOL: true },
    { N: "5" },
    { S: "2024-02-29T23:59:59Z" },
  ),
);
const attributes = {
  int64: fc
    .oneof({ weight: 5, arbitrary: int64 }, longInt64, oddNumber)
    .map((N) => ({ N })),
  "date-time": fc
    .oneof(
      fc
        .date({ min: new Date(0), noInvalidDate: true, max: new Date(4e12) })
        .map((valid) => valid.toISOString()),
      oddDate,
    )
    .map((S) => ({ S })),
  boolean: fc.boolean().map((BOOL) => ({ BOOL })),
};
const fields = orderFields.map(({ name, type }) =>
  fc.tuple(fc.constant(name), attributes[type]),
);
const item = fc.tuple(fc.tuple(...fields), other).chain(([usual, odd]) => {
  const entries = fc.oneof(
    { weight: 4, arbitrary: fc.constant(usual) },
    fc.subarray(usual),
    fc.shuffledSubarray([...usual, ["note", odd]]),
    fc
      .shuffledSubarray(usual)
      .map((wrong) =>
        usual.map((entry) => (wrong.includes(entry) ? [entry[0], odd] : entry)),
      ),
  );
  return entries.map((pairs) => Object.fromEntries(pairs));
});
const page = fc.record({
  Count: fc.nat(),
  Items: fc.array(item, { maxLength: 12 }),
  LastEvaluatedKey: fc.option(fc.constant({ id: { N: "-5" } }), { nil: undefined }),
});

test("a page of any orders becomes the same text with the same fields left out", async () => {
  const readSame = await sameReaders();
  const keys = fc.shuffledSubarray(["Count", "Items", "LastEvaluatedKey"] as const, {
    minLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(
      page,
      keys,
      fc.constantFrom(0, 0, 0, 1),
      async (content, order, indent) => {
        const sent = Object.fromEntries(order.map((key) => [key, content[key]]));
        await readSame(JSON.stringify(sent, null, indent));
      },
    ),
    { numRuns: 400 },
  );
});

const body = JSON.stringify({
  Items: [
    {
      complete: { BOOL: true },
      id: { N: "10" },
      shipDate: { S: "2024-02-29T23:59:59.5Z" },
    },
    { id: { N: "7" }, quantity: { N: "90" }, shipDate: { NULL: true } },
    { complete: { BOOL: false }, id: { N: "0" }, petId: { S: "1" } },
  ],
  LastEvaluatedKey: { id: { N: "0" } },
  Count: 3,
});

test.each(["", "0", "9", "-", ",", "{", "}", "[", "]", '"', "\\", "\n", " ", "x", "Z"])(
  "a page with %j in place of any character, or before it, is the same, or none for both",
  async (inserted) => {
    const readSame = await sameReaders();
    for (let index = 0; index < body.length; index += 1)
      for (const removed of [0, 1])
        await readSame(body.slice(0, index) + inserted + body.slice(index + removed));
  },
);

describe("a response is a page, is lost or is an error for both protocols:", () => {
  test.each([
    ["closed, without a length", (cut: string) => `\r\n${cut}`],
    ["said to be gzip", (cut: string) => `Content-Encoding: gzip\r\n\r\n${cut}`],
    ["with its whole length", (cut: string) => `Content-Length: 45\r\n\r\n${cut}`],
    [
      "in chunks without an end",
      (cut: string) => {
        const chunk = cut && `${cut.length.toString(16)}\r\n${cut}\r\n`;
        return `Transfer-Encoding: chunked\r\n\r\n${chunk}`;
      },
    ],
  ])("cut at each byte, %s", async (_, framed) => {
    const short = '{"Items":[{"id":{"N":"1"}},{"id":{"N":"2"}}]}';
    for (let cut = 0; cut <= short.length; cut += 1) {
      const framing = framed(short.slice(0, cut));
      table.respond = () => `HTTP/1.1 200 OK\r\n${requestId}${framing}`;
      const { outcome, attempts } = await expectSame(cut);
      if (cut < short.length)
        expect([outcome, attempts]).toMatchObject([{ name: expect.any(String) }, 2]);
    }
  });

  test.each([200, 204, 400, 500])("the status %i", async (status) => {
    const items = '[{"id":{"N":"1"}}]';
    const bodies = [
      ...[body, body + body, "", "null", "5", "[]", "{}", "<html></html>"],
      ...['{"Items":null}', `{"Orders":${items}}`, `{"Page":{"Items":${items}}}`],
      `{"Orders":${items},"Items":null}`,
      ...[`{"Items":${items},"Items":${items}}`, `{"Items":${items},"Orders":${items}}`],
      ...[`{"Note":"[","Items":${items}}`, `{"Items":[{"complete":{"BOOL":1e20}}]}`],
    ];
    const errors = ["ThrottlingException", "ValidationException", "InternalServerError"];
    for (const sent of [...bodies, ...errors.map((name) => `{"__type":"a#${name}"}`)]) {
      table.respond = () => response(status, sent);
      await expectSame(sent);
    }
  });
});

test("orders aren't parsed for their order of attributes, or for a missing or wrong one", async () => {
  const read = await reader(ours);
  const items = [
    { petId: { N: "7" }, id: { N: "1234567890123456789" } },
    { id: { N: "-1" }, complete: { N: "1" }, petId: { S: "a: b" } },
    { shipDate: { BOOL: false }, quantity: { N: "1.5" }, id: { N: "0" } },
    { complete: { NULL: true }, shipDate: { S: "é" }, id: { N: "5" } },
  ];
  using slow = vi.spyOn(AwsJson1_0Protocol.prototype, "deserializeResponse");
  for (const Items of [[], items]) {
    using parse = vi.spyOn(JSON, "parse");
    await read(JSON.stringify({ Items }));
    expect(parse.mock.calls).toEqual([['{"Items":[]}']]);
  }
  expect(slow).not.toHaveBeenCalled();
});

test.each([0, 1])(
  "pages that are read at once, indented by %i, don't mix",
  async (indent) => {
    const read = await reader(ours);
    const ids = ["10", "2", "33"];
    const pages = ids.map((N) =>
      read(JSON.stringify({ Items: [{ id: { N } }] }, null, indent)),
    );
    const expected = ids.map((id) => ({ json: `,{"id":${id}}` }));
    expect(await Promise.all(pages)).toMatchObject(expected);
  },
);

test.each([
  [0, 1],
  [1, 2],
])("a page whose checksum is wrong by %i takes %i attempts", async (wrong, attempts) => {
  table.respond = (attempt) => {
    const sum = crc32(body) + (attempt === 1 ? wrong : 0);
    return response(200, body, `${requestId}x-amz-crc32: ${sum}\r\n`);
  };
  expect(await scan(ours)).toMatchObject({ outcome: { orders: 3 }, attempts });
});
