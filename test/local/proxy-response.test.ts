import { expect, test } from "vitest";
import { readProxyResponse } from "../../infra/local/gateway/proxy-response.ts";

const json = { "content-type": "application/json" };

/** The HTTP response in what a function returned. */
function read(returned: object) {
  return readProxyResponse({ kind: "buffered", payload: JSON.stringify(returned) }, false);
}

test.each([
  ["a status as text", { statusCode: "201" }, 201, { ...json, "content-length": 0 }, ""],
  ["no status", { body: "é" }, 200, { ...json, "content-length": 2 }, "é"],
  ["base64", { isBase64Encoded: true, body: "w6k=" }, 200, { ...json, "content-length": 2 }, "é"],
  [
    "headers in capitals, a number and a boolean among them",
    { headers: { "Content-Type": "text/plain", "X-Count": 1, "X-New": true } },
    200,
    { "content-type": "text/plain", "x-count": "1", "x-new": "true", "content-length": 0 },
    "",
  ],
  ["a status that has no length", { statusCode: 304 }, 304, json, ""],
])("a function may respond with %s", (_, returned, status, headers, body) => {
  expect(read(returned)).toEqual({ status, headers, body: Buffer.from(body) });
});

test.each([{ statusCode: 199 }, { statusCode: 600 }, { statusCode: 200.5 }])("%j is no response", (returned) => {
  expect(() => read(returned)).toThrow("The function returned no Lambda proxy response");
});
