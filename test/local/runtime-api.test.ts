import { once } from "node:events";
import { Server } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { FunctionResponse } from "../../infra/local/lambda/function-response.ts";
import { RuntimeApi } from "../../infra/local/lambda/runtime-api.ts";

/** A Runtime API whose runtime has taken the invocation `r1`, its response, and what the runtime posts about one. */
async function invoked() {
  const api = new RuntimeApi();
  onTestFinished(() => api.close());
  const runtime = `http://${await api.listen()}/2018-06-01/runtime/invocation`;
  const next = fetch(`${runtime}/next`);
  await once(api, "idle");
  const response = Promise.withResolvers<FunctionResponse>();
  api.hand({ requestId: "r1", event: "{}", response, signal: undefined }, {});
  await next;
  return {
    response: response.promise,
    post: async (path: string, body: string, headers: Record<string, string> = {}) =>
      (await fetch(`${runtime}/${path}`, { method: "POST", body, headers })).status,
  };
}

test("a response counts for its own invocation only", async () => {
  const { response, post } = await invoked();
  expect(await post("r0/response", '"late"')).toBe(400);
  expect(await post("r1/response", '"right"')).toBe(202);
  expect(await response).toEqual({ kind: "buffered", payload: '"right"' });
  expect(await post("r1/response", '"again"')).toBe(400);
});

test("a failure without a report has a name all the same", async () => {
  const { response, post } = await invoked();
  const failed = expect(response).rejects.toMatchObject({
    errorType: "Runtime.Unknown",
    message: "The runtime reported no reason",
  });
  expect(await post("r1/error", "no JSON")).toBe(202);
  await failed;
});

test("a stream without HTTP metadata is a failure", async () => {
  const { response, post } = await invoked();
  const failed = expect(response).rejects.toMatchObject({ errorType: "Runtime.NoPrelude" });
  const headers = { "lambda-runtime-function-response-mode": "streaming", "content-type": "text/plain" };
  await post("r1/response", `{}${"\0".repeat(8)}meow`, headers);
  await failed;
});

test("a stream may go on, and a runtime may be idle, without limit", async () => {
  const listening = vi.spyOn(Server.prototype, "listen");
  onTestFinished(() => listening.mockRestore());
  await invoked();
  expect(listening.mock.contexts).toMatchObject([{ requestTimeout: 0, keepAliveTimeout: 0 }]);
});
