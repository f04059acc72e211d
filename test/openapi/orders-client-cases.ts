// What a copied client must cope with, in any language.
import type { ServerResponse } from "node:http";
import { constants, gzipSync } from "node:zlib";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";
import type { Call } from "./orders-client-calls.ts";

/** Of every call, unless it has another one. */
export const key = "pets_test_0123";

export type Respond = (response: ServerResponse) => void;

export const responds =
  (
    status: number,
    body: string | Uint8Array = "",
    headers: Record<string, string> = {},
  ): Respond =>
  (response) =>
    response.writeHead(status, headers).end(body);
const fails = (code: ErrorCode, headers: Record<string, string> = {}) =>
  responds(errors[code].status, errorBody(code), headers);
/** Responds with these bytes, which need not be HTTP. */
const sends =
  (bytes: string): Respond =>
  ({ socket }) =>
    socket?.end(bytes);
const hangUp: Respond = ({ socket }) => socket?.destroy();
const busy = fails("service_unavailable");
const failed = fails("internal_error");
const throttled = (...seconds: string[]) =>
  seconds.map((value) => fails("too_many_requests", { "Retry-After": value }));
const gzip = { "Content-Encoding": "gzip" };
const zipped = gzipSync('[{"id":1}]');
/** Longer than all buffers on its way, even compressed. */
const longList = gzipSync(`[${" ".repeat(10_000_000)}]`, {
  strategy: constants.Z_HUFFMAN_ONLY,
});

const page = responds(200, "<html>Back soon</html>", { "Content-Type": "text/html" });
const redirects = (status: number) =>
  responds(status, "", { Location: "http://127.0.0.1:9/v1/store/orders" });
const always = (respond: Respond) => Array(5).fill(respond);

/** The responses of a server before it works, by the outcome of the call and the reason. */
type Cases = Record<string, Record<string, Respond | Respond[]>>;

const lists: Cases = {
  // These responses say nothing for sure, so another attempt may help.
  "[] after 0.5 s": {
    "no response": hangUp,
    "nothing of HTTP": sends("SSH-2.0-OpenSSH_9.9\r\n"),
    "an empty 200": responds(200),
    "a page": page,
    "an object": responds(200, "{}"),
    "an end between orders": responds(200, '[{"id":1},'),
    "an end within a character": responds(200, Buffer.from([0x5b, 0x22, 0xc3])),
    "an end with its connection": sends("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n["),
    "an impossible length": sends(
      `HTTP/1.1 200 OK\r\nContent-Length: ${"9".repeat(30)}\r\n\r\n[`,
    ),
    "an impossible chunk": sends(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n[]\r\n",
    ),
    "half of its gzip": responds(200, zipped.subarray(0, 15), gzip),
    "gzip that is none": responds(200, "[]", gzip),
    "damaged gzip": responds(200, zipped.with(10, 0xff), gzip),
    "too many levels": responds(200, "[".repeat(1_000_000)),
  },
  '[{"id":1}]': {
    "a compressed list": responds(200, zipped, { "Content-Encoding": "X-GZIP" }),
  },
  "[]": {
    "a long list, compressed, from a server that hangs up": responds(200, longList, {
      ...gzip,
      Connection: "close",
    }),
    "informational responses before the list": sends(
      "HTTP/1.1 100 Continue\r\n\r\n" +
        "HTTP/1.1 103 Early Hints\r\nLink: </page>\r\n\r\n".repeat(2) +
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    ),
  },
  "ApiError 403 forbidden": { "an error of the catalogue": fails("forbidden") },
  "ApiError 404": {
    "no JSON": responds(404, "{oops"),
    "JSON of another form": responds(404, "[1]"),
    "a number for a code": responds(404, '{"code":5}'),
    "half a character": responds(404, Buffer.from([0xc3])),
  },
  "ApiError 202": { "not yet a list": responds(202, "[]") },
  "ApiError 204": { "no list": responds(204) },
  "ApiError 407": { "a status of proxies": responds(407) },
  "ApiError 301": { "another host": redirects(301) },
  "[] after 0.5, 1, 2, 4 s": {
    "four failures": [busy, busy, busy, failed],
    "too long a wait": throttled("100", "99999999999", "1e9", "Infinity"),
    "no number": throttled("", "Wed, 21 Oct 2026 07:28:00 GMT", "soon", "NaN"),
    "no whole number": throttled("-1", "1.5", "1, 2", "0x10"),
  },
  "ApiError 500 internal_error after 0.5, 1, 2, 4 s": {
    "five failures": [busy, busy, busy, busy, failed],
  },
  "[] after 7.5, 1, 101, 5 s": { waits: throttled("7", "0", "99", "1") },
};

const echoes: Cases = {
  "ApiError 403": {
    "a body": responds(
      403,
      `'${key}' not a valid key=value pair in Authorization header: 'Bearer ${key}'`,
    ),
    "a code": responds(403, JSON.stringify({ code: key })),
    "a body too long to show": responds(
      403,
      `${"-".repeat(455)}${key}${"-".repeat(99)}`,
      {
        "x-amzn-RequestId": key,
      },
    ),
  },
  "ApiError 302": {
    "a redirect": responds(302, key, { Location: `/${key}`, "X-Key": key }),
  },
  "ApiError 200 after 0.5, 1, 2, 4 s": { "a list": always(responds(200, key)) },
  "ApiError after 0.5, 1, 2, 4 s": {
    "a status line": always(sends(`HTTP/1.1 ${key}\r\n\r\n`)),
    "what isn't HTTP": always(sends(`Authorization: Bearer ${key}\r\n\r\n`)),
  },
};

const silences: Cases = {
  "[] after 0.5, 1 s": {
    "at once and midway": [
      () => {},
      (response) => void response.writeHead(200).write("["),
    ],
  },
};

const cancellations: Cases = {
  "cancelled after 0.5 s": {
    "no response": hangUp,
    "a page": page,
  },
  cancelled: {
    "it was before": fails("order_already_cancelled"),
    "nothing, compressed": responds(204, "", gzip),
  },
  "ApiError 409 order_not_pending": { "another conflict": fails("order_not_pending") },
  "ApiError 404 order_already_cancelled": {
    "another status": responds(404, errorBody("order_already_cancelled")),
  },
  "ApiError 202": { "not yet": responds(202) },
  "ApiError 307": { "another host": redirects(307) },
};

/** Calls to a server, by what they are for. */
export const served: [what: string, expected: Cases, options: Partial<Call>][] = [
  ["a list", lists, {}],
  ["a list with its key", echoes, {}],
  ["a silence", silences, { timeout: 100 }],
  ["a cancellation", cancellations, { cancel: "4" }],
];

/** Wrong calls, in any language, by what the error says. */
export const wrong: Record<string, Record<string, Partial<Call>>> = {
  "https://HOST/v1": {
    "no TLS to another machine": { baseUrl: "http://192.0.2.1/v1" },
    "a host named like this one": { baseUrl: "http://127.0.0.1.example/v1" },
    "a host before a backslash": { baseUrl: "http://evil.example\\@127.0.0.1/v1" },
    "no version": { baseUrl: "http://127.0.0.1:9" },
    "no host": { baseUrl: "https:///v1" },
    "a password": { baseUrl: "https://a:b@127.0.0.1/v1" },
    "a query": { baseUrl: "http://127.0.0.1:9/?a/v1" },
    "more than a version": { baseUrl: "http://127.0.0.1:9/v1/store" },
    "the key": { baseUrl: key, apiKey: "http://127.0.0.1:9/v1" },
  },
  "API key": {
    "no key": { apiKey: "" },
    "a line": { apiKey: `${key}\n${key}` },
    "an umlaut": { apiKey: `${key}ä` },
    "a scheme": { apiKey: `Bearer ${key}` },
  },
};

/** Wrong calls in TypeScript, likewise. */
export const wrongInTypeScript: typeof wrong = {
  ...wrong,
  "must look like https://HOST/v1": {
    "no such port": { baseUrl: "http://127.0.0.1:99999/v1" },
  },
  "The timeout must be a number of milliseconds from 1 to 2147483647": {
    "no time": { timeout: 0 },
    "time without end": { timeout: 2 ** 31 },
  },
  " is not an exact integer: pass the id as a bigint": {
    "a fraction": { cancel: "1.5" },
    "perhaps without its last digits": { cancel: "9007199254740992.0" },
    "a path": { cancel: '"../4"' },
    "a boolean": { cancel: "true" },
  },
};
