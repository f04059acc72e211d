import { METHODS } from "node:http";
import fc from "fast-check";

/** A request as bytes, one character each, and what its answer depends on. */
export interface FuzzRequest {
  method: string;
  bytes: string;
  /** Whether it carries one valid key, and so may be let in. */
  hasKey: boolean;
}

/** The ids of orders that some requests name. */
export const fuzzedOrders = { first: 1_000, count: 300 };

/** Would be seen in an answer that repeats what it was sent. */
export const marker = `zq"<'{`;

/** How long a request line and its headers may be, with some to spare. */
const headLimit = 15_000;

const digitsOfOthers = ["%D9%A1", "%EF%BC%91", "%F0%9D%9F%8F", "%E0%A5%A7"];
const segment = fc.oneof(
  fc.constantFrom("v1", "store", "orders", "101", "102", "201", "999", "9223372036854775807", "-9223372036854775809"),
  fc.constantFrom(
    ".",
    "..",
    "%2e%2e",
    "%2F",
    "%00",
    "%",
    "%zz",
    "%C0%AF",
    "+1",
    "007",
    "-0",
    "1e3",
    "101;a=1",
    "",
    "~",
  ),
  fc.constantFrom(...digitsOfOthers),
  fc.constant(encodeURIComponent(marker)),
  fc.stringMatching(/^[!$&'()*,:=@\w.~-]{1,12}$/),
  fc.integer({ min: 1, max: 6_000 }).map((length) => "9".repeat(length)),
);
const path = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("/v1/store/orders", "/v1/store/orders/101", "/v1/store/orders/102") },
  { weight: 2, arbitrary: fc.nat(fuzzedOrders.count).map((index) => `/v1/store/orders/${fuzzedOrders.first + index}`) },
  { weight: 3, arbitrary: segment.map((each) => `/v1/store/orders/${each}`) },
  { weight: 2, arbitrary: fc.array(segment, { maxLength: 6 }).map((each) => `/v1/${each.join("/")}`) },
  { weight: 1, arbitrary: segment.map((each) => `/elsewhere/${each}`) },
  { weight: 1, arbitrary: segment.map((each) => `http://elsewhere/v1/store/orders/${each}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("*", "//v1/store/orders", "/v1/store/orders/", "/v1//store/orders", "/V1/store/orders"),
  },
);
const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  fc.array(segment, { minLength: 1, maxLength: 3 }).map((each) => `?${each.join("&a=")}`),
);

const printable = fc.string({
  unit: fc
    .integer({ min: 0x21, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 20,
});
const headerValue = fc.oneof(
  printable,
  fc.constant(marker),
  fc.constantFrom(
    "application/json",
    "text/plain;charset=x",
    "multipart/form-data",
    "image/png",
    "gzip, br",
    "*;q=0",
    "0",
  ),
  fc.integer({ min: 1, max: 4_000 }).map((length) => "h".repeat(length)),
);
const headerName = fc.oneof(
  fc.constantFrom(
    "Content-Type",
    "Accept",
    "Accept-Encoding",
    "X-Amzn-RequestId",
    "X-Amzn-Trace-Id",
    "X-Forwarded-For",
  ),
  fc.constantFrom("User-Agent", "Cookie", "X-HTTP-Method-Override", "Range", "If-None-Match", "Origin", "X-Api-Key"),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,15}$/).map((name) => `X-${name}`),
);
const headers = fc.array(fc.tuple(headerName, headerValue), { maxLength: 5 });

/** What may stand where a key is asked for, and whether it is one. */
const authorization = (key: string): fc.Arbitrary<{ lines: string; hasKey: boolean }> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant({ lines: `Authorization: Bearer ${key}\r\n`, hasKey: true }) },
    { weight: 1, arbitrary: fc.constant({ lines: "", hasKey: false }) },
    { weight: 1, arbitrary: printable.map((text) => ({ lines: `Authorization: Bearer ${text}\r\n`, hasKey: false })) },
    {
      weight: 1,
      arbitrary: printable.map((text) => ({
        lines: `Authorization: Bearer ${key}\r\nauthorization: Bearer ${text}\r\n`,
        hasKey: false,
      })),
    },
  );

/** A body and the headers that frame it. */
const body = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ lines: "", text: "" }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 60 }).map(framedByLength) },
  { weight: 1, arbitrary: fc.array(fc.stringMatching(/^\w{1,20}$/), { maxLength: 3 }).map(framedByChunks) },
);

function framedByLength(text: string): { lines: string; text: string } {
  const bytes = Buffer.from(text).toString("latin1");
  return { lines: `Content-Length: ${bytes.length}\r\n`, text: bytes };
}

function framedByChunks(chunks: string[]): { lines: string; text: string } {
  const text = [...chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`), "0\r\n\r\n"].join("");
  return { lines: "Transfer-Encoding: chunked\r\n", text };
}

/** Requests that are correct HTTP/1.1, however odd: each has its answer, and the connection lives on. */
export function correctRequests(key: string): fc.Arbitrary<FuzzRequest> {
  const methods = METHODS.filter((method) => method !== "CONNECT");
  const method = fc.oneof({ weight: 3, arbitrary: fc.constantFrom("GET", "DELETE") }, fc.constantFrom(...methods));
  return fc
    .record({ method, path, query, headers, authorization: authorization(key), body })
    .map((parts) => ({
      method: parts.method,
      hasKey: parts.authorization.hasKey,
      bytes: [
        `${parts.method} ${parts.path}${parts.query} HTTP/1.1\r\nHost: localhost\r\n`,
        parts.authorization.lines,
        ...parts.headers.map(([name, value]) => `${name}: ${value}\r\n`),
        `${parts.body.lines}\r\n${parts.body.text}`,
      ].join(""),
    }))
    .filter(({ bytes }) => bytes.length < headLimit);
}

/** Requests that are cut off, ill framed, of another version, too large, or no requests at all. */
export function brokenRequests(key: string): fc.Arbitrary<FuzzRequest> {
  const correct = correctRequests(key);
  const edit = (change: (bytes: string, at: number, junk: string) => string): fc.Arbitrary<FuzzRequest> =>
    fc
      .tuple(correct, fc.nat(100_000), fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 8 }))
      .map(([request, at, junk]) => ({ ...request, bytes: change(request.bytes, at % request.bytes.length, junk) }));
  const addHeader = (header: string): fc.Arbitrary<FuzzRequest> =>
    edit((bytes) => bytes.replace("\r\n", `\r\n${header}\r\n`));
  const broken = fc.oneof(
    edit((bytes, at) => bytes.slice(0, at)),
    edit((bytes, at, junk) => bytes.slice(0, at) + junk + bytes.slice(at)),
    edit((bytes, at, junk) => bytes.slice(0, at) + junk + bytes.slice(at + junk.length)),
    edit((bytes) => bytes.replace(" HTTP/1.1\r\n", " HTTP/1.0\r\n")),
    edit((bytes) => bytes.replace(" HTTP/1.1\r\n", " HTTP/1.0\r\nConnection: keep-alive\r\n")),
    edit((bytes) => bytes.replace(" HTTP/1.1\r\n", "\r\n")),
    edit((bytes, at) => bytes.replace(" HTTP/1.1\r\n", ` HTTP/${at % 4}.${at % 10}\r\n`)),
    edit((bytes) => bytes.replace("/store", "/\u00b2\u00ff")),
    edit((bytes) => bytes.replace(/^\S+/, "CONNECT")),
    edit((bytes) => bytes.replace(/^\S+/, (method) => method.toLowerCase())),
    edit((bytes) => bytes.replace("Host: localhost\r\n", "")),
    edit((bytes, at) => bytes.replace("\r\n", `\r\nX-Large: ${"l".repeat(16_000 + at)}\r\n`)),
    edit((bytes, at) => bytes.replace("\r\n", `\r\n${"X-Many: m\r\n".repeat(at % 3_000)}`)),
    edit((bytes) => bytes.replaceAll("\r\n", "\n")),
    ...[
      "Host: elsewhere",
      "Content-Length: 5",
      "Content-Length: -1",
      "Content-Length: 5, 6",
      "Transfer-Encoding: chunked",
      "Transfer-Encoding: gzip, chunked",
      "Transfer-Encoding: xchunked",
      "Expect: 100-continue",
      "Expect: the unexpected",
      "Upgrade: websocket\r\nConnection: Upgrade",
      "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: Upgrade, HTTP2-Settings",
      "Connection: close",
      " folded: line",
      `Authorization : Bearer ${key}`,
      `Bad Name: ${marker}`,
      "X-Null: \u0000",
    ].map(addHeader),
    fc.string({ unit: "binary", maxLength: 200 }).map((bytes) => ({ method: "", bytes, hasKey: false })),
    fc.constant({ method: "PRI", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", hasKey: false }),
    fc.constant({
      method: "",
      bytes: "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
      hasKey: false,
    }),
  );
  // The local stack's own page is there, and no part of the service.
  return broken.filter(({ bytes }) => !/^GET \/[? ]/.test(bytes));
}
