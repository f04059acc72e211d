import { METHODS } from "node:http";
import fc from "fast-check";

export interface FuzzRequest {
  method: string;
  target: string;
  headers: Record<string, string | string[]>;
  body: string | undefined;
  /** Whether it carries exactly one key, a valid one, and so may be let in. */
  hasKey: boolean;
}

/** The ids of orders that some requests name. */
export const fuzzedIds = Array.from({ length: 100 }, (_, index) => String(1_000 + index));

/** A part of some requests, which shows up in a response that echoes its request. */
export const marker = `zq"<'{`;

/** The longest request, in bytes: Node takes 16 KB of request line and headers. */
const headLimit = 15_000;

const anyOf = (words: string) => fc.constantFrom(...words.split(" "));

/** Comes three times as often as the others. */
const often = <Value>(arbitrary: fc.Arbitrary<Value>) => ({ weight: 3, arbitrary });

const segment = fc.oneof(
  anyOf("v1 store orders 101 102 201 999 9223372036854775807 -9223372036854775809"),
  anyOf(". .. %2e%2e %2F %00 % %zz %C0%AF +1 007 -0 1e3 101;a=1 ~"),
  // Digits of other scripts.
  anyOf("%D9%A1 %EF%BC%91 %F0%9D%9F%8F %E0%A5%A7"),
  fc.constantFrom("", encodeURIComponent(marker), "9".repeat(6_000)),
  fc.stringMatching(/^[!$&'()*,:=@\w.~-]{1,12}$/),
);
const orderPath = (id: string) => `/v1/store/orders/${id}`;
const path = fc.oneof(
  often(anyOf("/v1/store/orders /v1/store/orders/101 /v1/store/orders/102")),
  often(fc.constantFrom(...fuzzedIds).map(orderPath)),
  often(segment.map(orderPath)),
  often(
    fc.array(segment, { maxLength: 6 }).map((segments) => `/v1/${segments.join("/")}`),
  ),
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

/** What a header may have, besides spaces. */
const printable = fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,20}$/);
const headerValue = fc.oneof(
  printable,
  fc.constantFrom(marker, "gzip, br", "h".repeat(4_000)),
  anyOf("application/json text/plain;charset=x multipart/form-data image/png *;q=0 0"),
);
const headerName = anyOf(
  "Content-Type Accept Accept-Encoding X-Amzn-RequestId X-Amzn-Trace-Id X-Forwarded-For " +
    "User-Agent Cookie X-HTTP-Method-Override Range If-None-Match Origin X-Api-Key X-Any",
);
const headers = fc.dictionary(headerName, headerValue, { maxKeys: 5 });

const body = fc.oneof(
  often(fc.constant({ body: undefined, framing: {} })),
  fc.record({
    body: fc.string({ maxLength: 60 }),
    framing: fc.constantFrom<object>({}, { "transfer-encoding": "chunked" }),
  }),
);

/** Requests that are odd, but valid HTTP/1.1. */
export function fuzzRequests(key: string): fc.Arbitrary<FuzzRequest> {
  const valid = `Bearer ${key}`;
  const invalid = printable.map((text) => `Bearer ${text}`);
  const rejected: fc.Arbitrary<string | string[]> = fc.oneof(
    fc.constant<string[]>([]),
    invalid,
    invalid.map((second) => [valid, second]),
  );
  const methods = METHODS.filter((method) => method !== "CONNECT");
  return fc
    .record({
      method: fc.oneof(
        often(fc.constantFrom("GET", "DELETE")),
        fc.constantFrom(...methods),
      ),
      path,
      query,
      authorization: fc.oneof(often(fc.constant(valid)), rejected),
      headers,
      content: body,
    })
    .map((parts) => ({
      method: parts.method,
      target: parts.path + parts.query,
      headers: {
        ...parts.headers,
        ...parts.content.framing,
        authorization: parts.authorization,
      },
      body: parts.content.body,
      hasKey: parts.authorization === valid,
    }))
    .filter((request) => JSON.stringify(request).length < headLimit);
}
