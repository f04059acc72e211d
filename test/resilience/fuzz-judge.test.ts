import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RawResponse } from "../helpers/faults/pipeline.ts";
import { fuzzRequests, marker } from "../helpers/traffic/fuzz-requests.ts";
import { sendAll, whatIsWrong } from "../helpers/traffic/fuzzing.ts";

const unauthorized = '{"code":"unauthorized","message":"Missing or invalid API key","status":401}';
const noStore: [string, string] = ["cache-control", "no-store"];
const json: [string, string][] = [["content-type", "application/json"], noStore, ["x-amzn-requestid", "2ee6f2b4-9d2c"]];
const listed = (body: string, ...more: [string, string][]): RawResponse => ({
  status: 200,
  headers: [...json, ["vary", "Accept-Encoding"], ...more],
  body,
});
const gzipped = (json: string): string => gzipSync(json).toString("latin1");
const gzip: [string, string] = ["content-encoding", "gzip"];
const cancelled: RawResponse = { status: 204, headers: [noStore], body: "" };
const rejected: RawResponse = { status: 401, headers: [...json, ["www-authenticate", "Bearer"]], body: unauthorized };
const get = { method: "GET", hasKey: true };
const remove = { method: "DELETE", hasKey: true };

type Case = [what: string, request: { method: string; hasKey: boolean }, response: RawResponse];

describe("the fuzzer's judge", () => {
  test.each<Case>([
    ["a list", get, listed("[]")],
    ["a compressed list", get, listed(gzipped("[1]"), gzip)],
    ["a cancellation", remove, cancelled],
    ["a rejection", { ...get, hasKey: false }, rejected],
    ["a rejection of HEAD, which has no body", { method: "HEAD", hasKey: false }, { ...rejected, body: "" }],
  ])("lets %s pass", (_, request, response) => {
    expect(whatIsWrong(request, response)).toBeUndefined();
  });

  test.each<Case>([
    ["lists the orders for someone who may not see them", { ...get, hasKey: false }, listed("[]")],
    ["lists the orders for someone who may not see them", { ...get, method: "HEAD" }, listed("[]")],
    ["is not an array", get, listed('{"orders":[]}')],
    ["cancels for someone who may not", { ...remove, hasKey: false }, cancelled],
    ["cancels for someone who may not", get, cancelled],
    ["has a body", remove, { ...cancelled, body: "{}" }],
    ["echoes its request", get, { ...rejected, headers: [...json, ["allow", `GET, ${marker}`]] }],
    ["echoes its request", get, { ...rejected, headers: [["x-amzn-requestid", marker]] }],
    ["has the header server", get, { ...rejected, headers: [...json, ["server", "x"]] }],
    ["is not JSON", get, { ...rejected, headers: [["content-type", "text/html"], noStore] }],
    ["may be cached", get, { ...rejected, headers: [["content-type", "application/json"]] }],
    ["has no body", get, { ...rejected, body: "" }],
    ["is not an Error record with its status", get, { ...rejected, status: 403 }],
    ["is not an Error record with its status", get, { ...rejected, body: '{"message":"Forbidden"}' }],
    ["is not an Error record with its status", get, { ...rejected, status: 302 }],
  ])("says of a response that it %s", (wrong, request, response) => {
    expect(whatIsWrong(request, response)).toBe(wrong);
  });

  test("fails at a list that is cut off", () => {
    expect(() => whatIsWrong(get, listed('[{"id":1}'))).toThrow();
    expect(() => whatIsWrong(get, listed(gzipped("[1]").slice(0, -9), gzip))).toThrow();
  });
});

describe("the fuzzer", () => {
  const wire = (body: string): string =>
    `HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncache-control: no-store\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

  /** Sends one request to a service that responds to it, and to the one that ends the connection, like this. */
  async function sent(...responses: string[]): Promise<number[]> {
    const server = createServer((socket) => socket.once("data", () => socket.end(responses.join("")))).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      const request = { ...get, hasKey: false, operation: "other" as const, bytes: "GET / HTTP/1.1\r\n\r\n" };
      return (await sendAll(port, [request])).map(({ status }) => status);
    } finally {
      server.close();
    }
  }

  test("takes one right response to each request", async () => {
    expect(await sent(wire(unauthorized), wire(unauthorized))).toEqual([401]);
  });

  test.each([
    ["none", [], "No response to "],
    ["half of one", [wire(unauthorized).slice(0, -1)], "No response to "],
    ["one too few", [wire(unauthorized)], "More than the responses: "],
    ["one too many", Array(3).fill(wire(unauthorized)), "More than the responses: "],
    ["something after the last one", [wire(unauthorized), wire(unauthorized), "HTTP"], "More than the responses: "],
    ["a wrong one", [wire("{}"), wire(unauthorized)], "The response is not an Error record with its status: "],
  ])("fails at %s", async (_, responses, message) => {
    await expect(sent(...responses)).rejects.toThrow(message);
  });
});

describe("among the fuzzer's requests", () => {
  const requests = fc.sample(fuzzRequests("the-key"), { numRuns: 1_000, seed: 1 });
  const texts = requests.map(({ bytes }) => bytes);

  test.each<[what: string, RegExp]>([
    ["a list", /^GET \/v1\/store\/orders HTTP/],
    ["a cancellation", /^DELETE \/v1\/store\/orders\/101 HTTP/],
    ["another method", /^(?:PUT|POST|PATCH|HEAD|OPTIONS) /],
    ["a dot segment", /\/(?:\.\.|%2e%2e)[ /?]/],
    ["other digits than ASCII's", /%D9%A1|%EF%BC%91/],
    ["a query", / \S+\?\S+ HTTP/],
    ["something to echo in the path", /%3C'%7B/],
    ["something to echo in a header", /: zq"<'\{/],
    ["a long path", /9{2000}/],
    ["a long header", /h{1000}/],
    ["a body by its length", /\r\nContent-Length: [1-9]/],
    ["a body in chunks", /\r\nTransfer-Encoding: chunked\r\n\r\n[1-9a-f]/],
    ["two keys", /Bearer the-key\r\nauthorization: /],
  ])("is %s", (_, like) => {
    expect(texts.filter((text) => like.test(text))).not.toEqual([]);
  });

  test("is every operation, with a key and without", () => {
    const kinds = new Set(requests.map(({ operation, hasKey }) => `${operation} ${hasKey}`));
    const all = ["cancelOrder", "listOrders", "other"].flatMap((name) => [`${name} false`, `${name} true`]);
    expect([...kinds].sort()).toEqual(all);
  });
});
