import { Server } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import { directory, type HostOptions, startHost } from "./functions/host.ts";

let host: LambdaHost;
let log: string[];

function start(options?: HostOptions): void {
  log = [];
  host = startHost((line) => log.push(line), options);
}

afterEach(() => host.stop());
afterEach(() => void vi.useRealTimers());

async function echo(event: unknown): Promise<Record<string, unknown>> {
  const response = await host.invoke("echo", event);
  return response.kind === "buffered" ? JSON.parse(response.payload) : {};
}

describe("an invocation", () => {
  test("gets its event, its own request id, its time left, and Lambda's environment with nothing of the host's", async () => {
    start();
    const [first, second] = [await echo("€".repeat(100_000)), await echo({})];
    expect(first["event"]).toBe("€".repeat(100_000));
    expect(first["awsRequestId"]).not.toBe(second["awsRequestId"]);
    expect(first["invokedFunctionArn"]).toBe("arn:aws:lambda:us-east-1:000000000000:function:echo");
    expect(first["remaining"]).toSatisfy((ms: number) => ms > 15_000 && ms <= 20_000);
    expect(first["home"]).toBe(directory);
    expect(first["limits"]).toEqual(["--max-semi-space-size=12", "--max-old-space-size=230"]);
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

  test("that is aborted before it begins starts nothing", async () => {
    start();
    const listening = vi.spyOn(Server.prototype, "listen");
    onTestFinished(() => listening.mockRestore());
    await expect(host.invoke("echo", {}, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    expect(listening).not.toHaveBeenCalled();
  });
});

describe("a process that does not start", () => {
  test("in 10 seconds is ended, and fails its invocation", async () => {
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

  test("because its function can't be loaded says why", async () => {
    start();
    await expect(host.invoke("missing", {})).rejects.toMatchObject({
      errorType: "Runtime.HandlerNotFound",
      message: "index.missing is undefined or not exported",
    });
  });

  test("because its folder has gone fails its invocation and nothing else", async () => {
    start({ folder: `${directory}/gone` });
    const failure = { errorType: "Runtime.ExitError" };
    // The second waits for a process of its own.
    await Promise.all([1, 2].map(() => expect(host.invoke("echo", {})).rejects.toMatchObject(failure)));
    const line = expect.stringMatching(/^echo: Runtime exited with spawn .* ENOENT$/);
    expect(log).toEqual([line, line]);
  });
});
