import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { FunctionResponse } from "../../infra/local/lambda/function-response.ts";
import type { LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import { RuntimeApi } from "../../infra/local/lambda/runtime-api.ts";
import { directory, type HostOptions, startHost } from "./functions/host.ts";

describe("a process", () => {
  let host: LambdaHost;
  let log: string[];

  function start(options?: HostOptions): void {
    log = [];
    host = startHost((line) => log.push(line), options);
  }

  afterEach(async () => {
    vi.useRealTimers();
    await host.stop();
  });

  async function echo(event: unknown): Promise<Record<string, unknown>> {
    const response = await host.invoke("echo", event);
    return response.kind === "buffered" ? JSON.parse(response.payload) : {};
  }

  test("gets each event with an id and time of its own, and Lambda's environment with nothing of the host's", async () => {
    start();
    const [first, second] = [await echo("€".repeat(100_000)), await echo({})];
    expect(first["event"]).toBe("€".repeat(100_000));
    expect(first["awsRequestId"]).not.toBe(second["awsRequestId"]);
    expect(first["invokedFunctionArn"]).toBe("arn:aws:lambda:us-east-1:000000000000:function:echo");
    expect(first["remaining"]).toSatisfy((ms: number) => ms > 15_000 && ms <= 20_000);
    expect(first["home"]).toBe(directory);
    expect(first["limits"]).toEqual(["--max-semi-space-size=12", "--max-old-space-size=230", "--enable-source-maps"]);
    expect(first["environment"]).toEqual({
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "256",
      AWS_LAMBDA_FUNCTION_NAME: "echo",
      AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
      AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
      AWS_LAMBDA_LOG_FORMAT: "JSON",
      AWS_LAMBDA_LOG_GROUP_NAME: "/aws/lambda/echo",
      AWS_LAMBDA_LOG_STREAM_NAME: expect.stringMatching(/^local\/\[\$LATEST\][\da-f-]{36}$/),
      AWS_LAMBDA_RUNTIME_API: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      HOME: directory,
      LAMBDA_TASK_ROOT: directory,
      TZ: ":UTC",
      _HANDLER: "index.echo",
    });
  });

  test("that does not start in 10 seconds is ended, and fails its invocation", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    start();
    const failed = vi.fn<(error: unknown) => void>();
    const invocation = host.invoke("echo", {}).catch(failed);
    await vi.advanceTimersByTimeAsync(0);
    vi.advanceTimersByTime(9_999);
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    expect(failed).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    await invocation;
    expect(failed.mock.lastCall).toMatchObject([{ message: "Init timed out after 10.00 seconds" }]);
    expect(log).toEqual(["echo: Init timed out after 10.00 seconds"]);
  });

  test("says why its function can't be loaded", async () => {
    start();
    await expect(host.invoke("missing", {})).rejects.toMatchObject({
      errorType: "Runtime.HandlerNotFound",
      message: "index.missing is undefined or not exported",
    });
  });

  test("whose folder has gone fails its invocation and nothing else", async () => {
    start({ folder: `${directory}/gone` });
    const failure = { errorType: "Runtime.ExitError" };
    // The second waits for a process of its own.
    await Promise.all([1, 2].map(() => expect(host.invoke("echo", {})).rejects.toMatchObject(failure)));
    const line = expect.stringMatching(/^echo: Runtime exited with spawn .* ENOENT$/);
    expect(log).toEqual([line, line]);
  });
});

describe("the Runtime API", () => {
  /** Has a runtime take the invocation `r1`: its response, and what the runtime posts about one. */
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

  test("takes a response for its own invocation only, and once", async () => {
    const { response, post } = await invoked();
    expect(await post("r0/response", '"late"')).toBe(400);
    expect(await post("r1/response", '"right"')).toBe(202);
    expect(await response).toEqual({ kind: "buffered", payload: '"right"' });
    expect(await post("r1/response", '"again"')).toBe(400);
  });

  test("names a failure without a report, and a stream without HTTP metadata", async () => {
    const unreported = await invoked();
    const failed = expect(unreported.response).rejects.toMatchObject({
      errorType: "Runtime.Unknown",
      message: "The runtime reported no reason",
    });
    expect(await unreported.post("r1/error", "no JSON")).toBe(202);
    await failed;
    const streamed = await invoked();
    const noStream = expect(streamed.response).rejects.toMatchObject({ errorType: "Runtime.NoPrelude" });
    const headers = { "lambda-runtime-function-response-mode": "streaming", "content-type": "text/plain" };
    await streamed.post("r1/response", `{}${"\0".repeat(8)}meow`, headers);
    await noStream;
  });
});
