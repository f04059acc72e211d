import { METHODS } from "node:http";
import fc from "fast-check";

/** A request, and what its response depends on. */
export interface FuzzRequest {
  method: string;
  /** Its path under the base address. */
  path: string;
  /** Whether it carries exactly one key, a valid one, and so may be let in. */
  hasKey: boolean;
  /** All of it, one character a byte. */
  bytes: string;
}

/** The ids of orders that some requests name. */
export const fuzzedIds = Array.from({ length: 300 }, (_, index) => String(1_000 + index));

/** A part of some requests, which shows up in a response that echoes its request. */
export const marker = `zq"<'{`;

/** The longest request, in bytes: Node takes 16 KB of request line and headers. */
const headLimit = 15_000;

const anyOf = (words: string): fc.Arbitrary<string> => fc.constantFrom(...words.split(" "));

/** One of several that comes three times as often as the others. */
const often = <Value>(arbitrary: fc.Arbitrary<Value>) => ({ weight: 3, arbitrary });

const repeated = (character: string, max: number): fc.Arbitrary<string> =>
  fc.integer({ min: 1, max }).map((length) => character.repeat(length));

const segment = fc.oneof(
  anyOf("v1 store orders 101 102 201 999 9223372036854775807 -9223372036854775809"),
  anyOf(". .. %2e%2e %2F %00 % %zz %C0%AF +1 007 -0 1e3 101;a=1 ~"),
  // Digits of other scripts.
  anyOf("%D9%A1 %EF%BC%91 %F0%9D%9F%8F %E0%A5%A7"),
  fc.constantFrom("", encodeURIComponent(marker)),
  fc.stringMatching(/^[!$&'()*,:=@\w.~-]{1,12}$/),
  repeated("9", 6_000),
);
const orderPath = (id: string): string => `/v1/store/orders/${id}`;
const path = fc.oneof(
  often(anyOf("/v1/store/orders /v1/store/orders/101 /v1/store/orders/102")),
  often(fc.constantFrom(...fuzzedIds).map(orderPath)),
  often(segment.map(orderPath)),
  often(fc.array(segment, { maxLength: 6 }).map((segments) => `/v1/${segments.join("/")}`)),
  segment.map((text) => `/elsewhere/${text}`),
  segment.map((text) => `http://elsewhere${orderPath(text)}`),
  anyOf("* //v1/store/orders /v1/store/orders/ /v1//store/orders /V1/store/orders"),
);
const query = fc.oneof(
  often(fc.constant("")),
  fc
    .array(segment, { minLength: 1, maxLength: 3 })
    .map((segments) => `?${segments.join("&a=")}`),
);

/** Characters that a header may have, other than spaces. */
const printable = fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,20}$/);
const headerValue = fc.oneof(
  printable,
  fc.constantFrom(marker, "gzip, br"),
  anyOf("application/json text/plain;charset=x multipart/form-data image/png *;q=0 0"),
  repeated("h", 4_000),
);
const headerName = fc.oneof(
  anyOf(
    "Content-Type Accept Accept-Encoding X-Amzn-RequestId X-Amzn-Trace-Id X-Forwarded-For",
  ),
  anyOf("User-Agent Cookie X-HTTP-Method-Override Range If-None-Match Origin X-Api-Key"),
  fc.stringMatching(/^X-[A-Za-z][A-Za-z0-9-]{0,15}$/),
);
const headers = fc.array(
  fc.tuple(headerName, headerValue).map(([name, value]) => `${name}: ${value}\r\n`),
  { maxLength: 5 },
);

/** The end of a request's head and its body, framed by a length, by chunks, or none. */
const body = fc.oneof(
  often(fc.constant("\r\n")),
  fc
    .string({ maxLength: 60 })
    .map((text) => `Content-Length: ${text.length}\r\n\r\n${text}`),
  fc.array(fc.stringMatching(/^\w{1,20}$/), { maxLength: 3 }).map((texts) => {
    const chunks = texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
    return `Transfer-Encoding: chunked\r\n\r\n${chunks.join("")}0\r\n\r\n`;
  }),
);

/** Requests that are odd, but valid HTTP/1.1: none of them ends the connection. */
export function fuzzRequests(key: string): fc.Arbitrary<FuzzRequest> {
  const valid = `Authorization: Bearer ${key}\r\n`;
  const invalid = printable.map((text) => `authorization: Bearer ${text}\r\n`);
  const rejected = fc.oneof(
    fc.constant(""),
    invalid,
    invalid.map((line) => valid + line),
  );
  const methods = METHODS.filter((method) => method !== "CONNECT");
  return fc
    .record({
      method: fc.oneof(
        often(fc.constantFrom("GET", "DELETE")),
        fc.constantFrom(...methods),
      ),
      target: path,
      query,
      authorization: fc.oneof(often(fc.constant(valid)), rejected),
      headers,
      body,
    })
    .map(({ method, target, authorization, ...rest }) => ({
      method,
      // The request line may name a host.
      path: target.replace("http://elsewhere", "").replace(/^\/v1/, ""),
      hasKey: authorization === valid,
      bytes: [
        `${method} ${target}${rest.query} HTTP/1.1\r\nHost: localhost\r\n${authorization}`,
        ...rest.headers,
        rest.body,
      ].join(""),
    }))
    .filter(({ bytes }) => bytes.length < headLimit);
}
