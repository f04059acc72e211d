import { createServer, request as startRequest } from "node:http";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { environments } from "../../../infra/environments.ts";
import { createGateway, type GatewayOptions } from "../../../infra/local/gateway/gateway.ts";
import {
  FunctionFailure,
  type FunctionResponse,
} from "../../../infra/local/lambda/function-response.ts";
import { listeningPort } from "../../../infra/local/machine/ports.ts";
import { readRestApi } from "../../../infra/local/template/rest-api.ts";
import { responseProblems } from "../../../infra/smoke/document.ts";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { expectError } from "../../helpers/expect-error.ts";
import { readAssembly } from "../../helpers/read-assembly.ts";
import { send } from "../../helpers/send.ts";
import { ownLines } from "../../helpers/trouble.ts";

type Invoke = (signal: AbortSignal) => Promise<FunctionResponse>;

const buffered = (response: object): Invoke => {
  return async () => ({ kind: "buffered", payload: JSON.stringify(response) });
};
const streamed = (prelude: object, body: string): Invoke => {
  return async () => ({ kind: "streamed", prelude, body: Readable.from([Buffer.from(body)]) });
};
const admitted = buffered({
  principalId: "key_1",
  policyDocument: {
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Action: "execute-api:Invoke", Resource: "arn:aws:execute-api:*" },
    ],
  },
});

/** The functions, by name. */
let functions: Record<string, Invoke>;
const log: string[] = [];
/** The latest event of each function that was invoked, by its name. */
let events: Record<string, unknown>;
let baseUrl: string;
/** The latest request. */
let served: Promise<void>;

/** Serves the service's own API, with functions that a test sets. */
async function startGateway(rehearsed: Partial<GatewayOptions> = {}): Promise<void> {
  log.length = 0;
  events = {};
  functions = { Authorize: admitted };
  const host = {
    invoke: async (name: string, event: unknown, signal = new AbortController().signal) => {
      const invoke = functions[name];
      events[name] = event;
      if (invoke === undefined) throw new Error(`${name} was invoked`);
      return invoke(signal);
    },
  };
  const { template } = await readAssembly();
  const options = {
    clock: { now: () => 0 },
    log: (line: string) => void log.push(line),
    ...rehearsed,
  };
  const serve = createGateway(readRestApi(template), host, options);
  const server = createServer((request, response) => {
    served = serve(request, response);
  });
  baseUrl = `http://127.0.0.1:${await listeningPort(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
}

/** Makes a function hang. @returns a promise that resolves when it is invoked. */
function hang(name: string): Promise<void> {
  const invoked = Promise.withResolvers<void>();
  functions[name] = (signal) => {
    const { promise, reject } = Promise.withResolvers<FunctionResponse>();
    signal.addEventListener("abort", () => reject(signal.reason));
    invoked.resolve();
    return promise;
  };
  return invoked.promise;
}

beforeEach(() => startGateway());
afterEach(() => void vi.useRealTimers());

const headers = { authorization: `Bearer ${makeApiKey(environments.staging.apiKeyPrefix)}` };
const list = () => send(`${baseUrl}/v1/store/orders`, { headers });
const cancel = (id = "42") =>
  send(`${baseUrl}/v1/store/orders/${id}`, { method: "DELETE", headers });

/** What arrives of a response's body before it breaks off. */
async function readUntilCut({ body }: Response): Promise<string> {
  let received = "";
  const read = async () => {
    for await (const chunk of body ?? []) received += Buffer.from(chunk).toString();
  };
  await expect(read()).rejects.toThrow("terminated");
  return received;
}

describe("the local gateway", () => {
  const day = 24 * 3600 * 1000;
  test.each([
    ["ListOrders", list, 900_000, "gateway_timeout", false],
    ["CancelOrder", cancel, 15_000, "gateway_timeout", false],
    ["Authorize", list, 29_000, "internal_error", false],
    ["CancelOrder", cancel, day, "gateway_timeout", true],
    ["Authorize", list, day, "internal_error", true],
  ] as const)(
    "gives up on a hanging %s when API Gateway would, or after a day of debugging",
    async (name, request, milliseconds, code, inspect) => {
      await startGateway({ inspect });
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const invoked = hang(name);
      const responded = vi.fn();
      const response = request().finally(responded);
      await invoked;
      await vi.advanceTimersByTimeAsync(milliseconds - 1);
      expect(responded).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expectError(await response, code);
    },
  );

  test("rejects a buffered response to a list", async () => {
    functions["ListOrders"] = buffered({ statusCode: 200, body: "[]" });
    expectError(await list(), "internal_error");
  });

  test("passes on a streamed list", async () => {
    functions["ListOrders"] = streamed({ statusCode: 200 }, "[]");
    expect(await list()).toMatchObject({ status: 200, body: "[]" });
  });

  test("rejects a streamed response to a cancellation", async () => {
    functions["CancelOrder"] = streamed({ statusCode: 204 }, "");
    expectError(await cancel(), "internal_error");
  });

  test("destroys the body of a streamed response that it rejects", async () => {
    const body = new Readable({ read: () => {} });
    const prelude = { statusCode: 204 };
    functions["CancelOrder"] = async () => ({ kind: "streamed", prelude, body });
    await cancel();
    expect(body.destroyed).toBe(true);
  });

  test("gives the authorizer the token, method and path of a request", async () => {
    functions["CancelOrder"] = buffered({ statusCode: 204 });
    await cancel("a%20b?c");
    expect(events["Authorize"]).toEqual({
      type: "TOKEN",
      authorizationToken: headers.authorization,
      methodArn: expect.stringMatching(
        /^arn:aws:execute-api:us-east-1:000000000000:\w+\/v1\/DELETE\/store\/orders\/a%20b$/,
      ),
    });
  });

  /** The request id of the response to a request with this id. */
  async function requestIdFor(id: string) {
    const response = await send(baseUrl, { headers: { "x-amzn-requestid": id } });
    return response.headers["x-amzn-requestid"];
  }

  test("keeps a well-formed request id of the client", async () => {
    expect(await requestIdFor("request_1-a")).toBe("request_1-a");
  });

  test.each([
    ["with a space", "request 1"],
    ["of 129 characters", "x".repeat(129)],
  ])("replaces a request id %s", async (_, id) => {
    expect(await requestIdFor(id)).toMatch(/^[\da-f-]{36}$/);
  });

  test("logs nothing when a client leaves", async () => {
    const invoked = hang("ListOrders");
    const client = startRequest(`${baseUrl}/v1/store/orders`, { headers }).on("error", () => {});
    client.end();
    await invoked;
    client.destroy();
    await served;
    expect(log).toEqual([]);
  });

  test("logs a fault of its own", async () => {
    functions["CancelOrder"] = async () => {
      throw new Error("a bug of ours");
    };
    expectError(await cancel(), "internal_error");
    expect(ownLines(log)).toEqual([
      expect.stringMatching(/^The local gateway failed: Error: a bug of ours/),
    ]);
  });

  test("does not log a failure that the function logs", async () => {
    functions["CancelOrder"] = async () => {
      throw new FunctionFailure("a bug of the function");
    };
    expectError(await cancel(), "internal_error");
    expect(log).toEqual([]);
  });

  test("throttles every nth request on demand, with or without a key", async () => {
    await startGateway({ throttle: 3 });
    functions["CancelOrder"] = buffered({ statusCode: 204 });
    const listWithoutKey = () => send(`${baseUrl}/v1/store/orders`);
    for (const third of [list, listWithoutKey]) {
      expect((await cancel()).status).toBe(204);
      expectError(await listWithoutKey(), "unauthorized");
      expectError(await third(), "too_many_requests", { "retry-after": "1" });
    }
  });

  test("cuts every nth list off midway on demand", async () => {
    await startGateway({ cut: 2 });
    functions["ListOrders"] = streamed({ statusCode: 200 }, '[{"id":1},{"id":2}]');
    functions["CancelOrder"] = buffered({ statusCode: 204 });
    for (const _ of ["first", "second"]) {
      expect((await list()).body).toBe('[{"id":1},{"id":2}]');
      await cancel();
      const response = await fetch(`${baseUrl}/v1/store/orders`, { headers });
      expect(response.status).toBe(200);
      const received = await readUntilCut(response);
      expect(received).toBe('[{"id":1},');
    }
  });

  test("responds on demand with 503 to every nth request that it admits", async () => {
    await startGateway({ unavailable: 2 });
    functions["CancelOrder"] = buffered({ statusCode: 204 });
    expect((await cancel()).status).toBe(204);
    expectError(await send(`${baseUrl}/v1/store/orders`), "unauthorized");
    const unavailable = await list();
    expectError(unavailable, "service_unavailable");
    expect(responseProblems("GET", "/store/orders", unavailable)).toEqual([]);
    expect((await cancel()).status).toBe(204);
  });
});
