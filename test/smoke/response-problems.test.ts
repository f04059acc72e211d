import { describe, expect, test } from "vitest";
import type { HttpResponse } from "../../infra/smoke/client.ts";
import { responseProblems } from "../../infra/smoke/response-problems.ts";
import { errorBody, errors } from "../../shared/errors.ts";

const json = { "content-type": "application/json", "cache-control": "no-store" };

function response(status: number, headers: Record<string, string>, body: string): HttpResponse {
  return { status, headers, body };
}

function list(body: string, headers: Record<string, string> = {}): HttpResponse {
  return response(200, { ...json, vary: "Accept-Encoding", ...headers }, body);
}

function error(code: keyof typeof errors, headers: Record<string, string> = {}): HttpResponse {
  return response(errors[code].status, { ...json, ...headers }, errorBody(code));
}

test.each<[string, string, HttpResponse]>([
  [
    "GET",
    "/store/orders?a=b",
    list('[{"id":-9223372036854775808},{}]', { "content-encoding": "gzip", date: "today" }),
  ],
  ["GET", "/store/orders", error("too_many_requests", { "retry-after": "1" })],
  ["DELETE", "/store/orders/", error("method_not_allowed", { allow: "GET" })],
  ["HEAD", "/nope", response(404, json, "")],
])("a documented response passes: %s %s", (method, path, documented) => {
  expect(responseProblems(method, path, documented)).toEqual([]);
});

describe("an undocumented response fails", () => {
  test.each<[string, string, HttpResponse, RegExp]>([
    ["GET", "/store/orders", response(202, json, "[]"), /status 202/],
    ["GET", "/store/orders", error("order_already_shipped"), /status 409/],
    ["GET", "/nope", error("order_not_found"), /code order_not_found/],
    ["DELETE", "/store/orders/1", error("resource_not_found"), /code resource_not_found/],
    ["GET", "/store/orders", response(200, json, "[]"), /header Vary is missing/],
    ["GET", "/store/orders", list("[]", { "x-powered-by": "cats" }), /header x-powered-by/],
    [
      "GET",
      "/store/orders",
      list("[]", { "content-type": "text/json" }),
      /content type text\/json/,
    ],
    [
      "GET",
      "/store/orders",
      error("unauthorized", { "www-authenticate": "Basic" }),
      /header WWW-Authenticate/,
    ],
    ["GET", "/store/orders", list('{"orders":[]}'), /body must be array/],
    [
      "GET",
      "/store/orders",
      list('[{"status":"pending"}]'),
      /body\/0 must NOT have additional properties .*status/,
    ],
    ["GET", "/store/orders", list('[{"id":1'), /body is invalid/],
    ["GET", "/store/orders", list('[{"id":"1"}]'), /body\/0\/id must be integer/],
    [
      "GET",
      "/store/orders",
      list('[{"id":9223372036854775808}]'),
      /9223372036854775808 is not an int64/,
    ],
    ["GET", "/store/orders", list('[{"quantity":1.0}]'), /1\.0 is not an int64/],
    ["GET", "/store/orders", list('[{"petId":1e3}]'), /1e3 is not an int64/],
    [
      "GET",
      "/store/orders",
      list('[{"shipDate":"0000-12-01T00:00:00Z"}]'),
      /shipDate must match format/,
    ],
    ["GET", "/store/orders", list('[{"complete":null}]'), /complete must be boolean/],
    [
      "DELETE",
      "/store/orders/1",
      response(204, { "cache-control": "no-store" }, "{}"),
      /a body is not documented/,
    ],
    [
      "DELETE",
      "/store/orders/1",
      response(409, json, errorBody("order_not_found")),
      /the body says status 404/,
    ],
    [
      "DELETE",
      "/store/orders/1",
      response(409, json, '{"code":"no","message":"","status":409}'),
      /allowed values/,
    ],
    ["DELETE", "/store/orders/1", response(409, json, '{"message":"Conflict"}'), /'code'/],
  ])("$0 $1: $3", (method, path, undocumented, reason) => {
    expect(responseProblems(method, path, undocumented).join("\n")).toMatch(reason);
  });
});
