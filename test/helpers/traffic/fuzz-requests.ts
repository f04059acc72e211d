import { METHODS } from "node:http";
import fc from "fast-check";
import { operations } from "../../../infra/stack/function-list.ts";

/** A request as bytes, one character each, and everything that its response depends on. */
export interface FuzzRequest {
  method: string;
  bytes: string;
  /** The operation whose path and method it has; `other` may still reach one. */
  operation: string;
  /** Whether it carries one valid key, and so may be let in. */
  hasKey: boolean;
}

/** The ids of orders that some requests name. */
export const fuzzedOrders = { first: 1_000, count: 300 };

/** Shows up in a response that echoes its request. */
export const marker = `zq"<'{`;

/** How long a request may be in bytes: Node takes 16 KB of request line and headers. */
const headLimit = 15_000;

const otherDigits = ["%D9%A1", "%EF%BC%91", "%F0%9D%9F%8F", "%E0%A5%A7"];
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
  fc.constantFrom(...otherDigits),
  fc.constant(encodeURIComponent(marker)),
  fc.stringMatching(/^[!$&'()*,:=@\w.~-]{1,12}$/),
  fc.integer({ min: 1, max: 6_000 }).map((length) => "9".repeat(length)),
);
const path = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("/v1/store/orders", "/v1/store/orders/101", "/v1/store/orders/102") },
  { weight: 2, arbitrary: fc.nat(fuzzedOrders.count).map((index) => `/v1/store/orders/${fuzzedOrders.first + index}`) },
  { weight: 3, arbitrary: segment.map((text) => `/v1/store/orders/${text}`) },
  { weight: 2, arbitrary: fc.array(segment, { maxLength: 6 }).map((segments) => `/v1/${segments.join("/")}`) },
  { weight: 1, arbitrary: segment.map((text) => `/elsewhere/${text}`) },
  { weight: 1, arbitrary: segment.map((text) => `http://elsewhere/v1/store/orders/${text}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("*", "//v1/store/orders", "/v1/store/orders/", "/v1//store/orders", "/V1/store/orders"),
  },
);
const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => `?${segments.join("&a=")}`),
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

/** Authorization headers, and whether they carry one valid key. */
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

/** Requests that are valid HTTP/1.1, however odd: each gets its response, and the connection stays open. */
export function fuzzRequests(key: string): fc.Arbitrary<FuzzRequest> {
  const methods = METHODS.filter((method) => method !== "CONNECT");
  const method = fc.oneof({ weight: 3, arbitrary: fc.constantFrom("GET", "DELETE") }, fc.constantFrom(...methods));
  return fc
    .record({ method, path, query, headers, authorization: authorization(key), body })
    .map((parts) => ({
      method: parts.method,
      operation: operationOf(parts.method, parts.path),
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

function operationOf(method: string, path: string): string {
  // The target of a request may name its host.
  const resource = path.replace("http://elsewhere", "");
  const found = operations.find((operation) => {
    const template = operation.path.replaceAll(/\{\w+\}/g, "[^/]+");
    return operation.method === method && new RegExp(`^/v1${template}$`).test(resource);
  });
  return found?.name ?? "other";
}
