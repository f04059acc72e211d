import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { FunctionResponse } from "../../../infra/local/lambda/function-response.ts";
import { RuntimeApi } from "../../../infra/local/lambda/runtime-api.ts";
import { send } from "../../helpers/send.ts";

const path = "/2018-06-01/runtime";
let api: RuntimeApi;
let address: string;
beforeEach(async () => {
  api = new RuntimeApi();
  address = `http://${await api.listen()}`;
});
afterEach(() => api.close());

describe("the Runtime API rejects", () => {
  test.each<[string, string, string, Record<string, string>]>([
    ["a DNS name that was rebound to it", "GET", "invocation/next", { host: "example.com" }],
    ["a page of another origin", "POST", "init/error", { origin: "https://example.com" }],
    ["an image on another site", "GET", "invocation/next", { "sec-fetch-site": "cross-site" }],
    ["a preflight", "OPTIONS", "invocation/1/response", {}],
    ["a method that the runtime does not use", "POST", "invocation/next", {}],
  ])("%s", async (_, method, operation, headers) => {
    const initFailed = vi.fn();
    api.on("initFailed", initFailed);
    const { status } = await send(`${address}${path}/${operation}`, { method, headers });
    expect({ status, state: api.state }).toEqual({ status: 403, state: "becoming idle" });
    expect(initFailed).not.toHaveBeenCalled();
  });
});

test("the runtime gets its next event", async () => {
  const next = send(`${address}${path}/invocation/next`);
  await expect.poll(() => api.state).toBe("idle");
  const response = Promise.withResolvers<FunctionResponse>();
  response.promise.catch(() => {});
  api.invoke({ requestId: "1", event: '{"a":1}', response, signal: undefined }, {});
  expect(await next).toMatchObject({ status: 200, body: '{"a":1}' });
});
