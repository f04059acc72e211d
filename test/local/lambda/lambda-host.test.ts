import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createLambdaHost, type LambdaHost } from "../../../infra/local/lambda/lambda-host.ts";
import { freePort } from "../../../infra/local/machine/ports.ts";
import { send } from "../../helpers/send.ts";
import { ownLines, troubles } from "../../helpers/trouble.ts";

/** The folder of `index.mjs`, which has these functions. */
const directory = import.meta.dirname;
const names = ["echo", "fail", "failSilently", "crash", "hang", "grow", "missing"];
const streaming = [
  "flood",
  "breakOff",
  "waiting",
  "late",
  "throwLate",
  "throwFirst",
  "noPrelude",
  "badPrelude",
];

let host: LambdaHost;
let log: string[];

/** Starts a host of the functions. */
function start({
  maxEnvironments = 1,
  timeoutSeconds = 20,
  folder = directory,
  inspectPort = undefined as number | undefined,
} = {}): void {
  log = [];
  const started = inspectPort === undefined ? [...names, ...streaming] : ["echo"];
  const definitions = started.map((name) => ({
    inspectPort,
    name,
    arn: `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
    directory: folder,
    handler: `index.${name}`,
    timeoutSeconds,
    memoryMegabytes: 256,
    environment: { AWS_LAMBDA_LOG_FORMAT: "JSON" },
  }));
  host = createLambdaHost(definitions, { log: (line) => log.push(line), maxEnvironments });
}

afterEach(async () => {
  vi.useRealTimers();
  await host.stop();
});

async function payload(name: string, event: unknown): Promise<Record<string, unknown>> {
  const response = await host.invoke(name, event);
  return response.kind === "buffered" ? JSON.parse(response.payload) : {};
}

/** Invokes a function that fails. @returns the failure. */
function failureOf(name: string): Promise<unknown> {
  return host.invoke(name, {}).catch((error: unknown) => error);
}

async function stream(name: string): Promise<Readable> {
  const response = await host.invoke(name, {});
  if (response.kind !== "streamed") throw new Error(`${name} did not stream`);
  return response.body;
}

describe("a process", () => {
  test("gets whole events, and has what Lambda gives a function and nothing of the host", async () => {
    const event = "€".repeat(100_000);
    start();
    const first = await payload("echo", event);
    expect(first).toEqual({
      event,
      awsRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
      invokedFunctionArn: "arn:aws:lambda:us-east-1:000000000000:function:echo",
      remaining: expect.toSatisfy((ms: number) => ms > 15_000 && ms <= 20_000),
      limits: ["--max-semi-space-size=12", "--max-old-space-size=230", "--enable-source-maps"],
      environment: {
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
      },
      home: directory,
    });
    expect((await payload("echo", {}))["awsRequestId"]).not.toBe(first["awsRequestId"]);
  });

  test("that does not start in 10 seconds fails its invocation", async () => {
    const folder = await mkdtemp(join(tmpdir(), "never-loaded-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(
      join(folder, "index.mjs"),
      "setInterval(() => {}, 1000); await new Promise(() => {});",
    );
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    start({ folder });
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

  test("with a debugger port takes a debugger before its first invocation", async () => {
    const inspectPort = await freePort("127.0.0.1");
    start({ inspectPort });
    host.warm();
    const debuggers = () => fetch(`http://127.0.0.1:${inspectPort}/json/list`).then(({ ok }) => ok);
    await expect.poll(() => debuggers().catch(() => false)).toBe(true);
    expect(log).toContain(`echo: a debugger can attach to 127.0.0.1:${inspectPort}`);
  });

  test("says why its function can't be loaded", async () => {
    start();
    await expect(host.invoke("missing", {})).rejects.toMatchObject({
      message: "index.missing is undefined or not exported",
    });
  });

  test("whose folder is missing fails its own invocation only", async () => {
    start({ folder: `${directory}/gone` });
    const failure = { message: expect.stringMatching(/^Runtime exited with spawn .* ENOENT$/) };
    // The second waits for a process of its own.
    await Promise.all(
      [1, 2].map(() => expect(host.invoke("echo", {})).rejects.toMatchObject(failure)),
    );
    const line = expect.stringMatching(/^echo: Runtime exited with spawn .* ENOENT$/);
    expect(log).toEqual([line, line]);
  });
});

describe("the Runtime API of a process rejects", () => {
  test.each<[string, string, string, Record<string, string>]>([
    ["a DNS name that was rebound to it", "GET", "invocation/next", { host: "example.com" }],
    ["a page of another origin", "POST", "init/error", { origin: "https://example.com" }],
    ["an image on another site", "GET", "invocation/next", { "sec-fetch-site": "cross-site" }],
    ["a preflight", "OPTIONS", "invocation/1/response", {}],
    ["a method that the runtime does not use", "POST", "invocation/next", {}],
  ])("%s, and its process takes the next event", async (_, method, operation, headers) => {
    start();
    const { environment } = await payload("echo", {});
    const address = Object(environment).AWS_LAMBDA_RUNTIME_API;
    const url = `http://${address}/2018-06-01/runtime/${operation}`;
    const pids = host.pids("echo");
    expect((await send(url, { method, headers })).status).toBe(403);
    expect((await payload("echo", 7))["event"]).toBe(7);
    expect(host.pids("echo")).toEqual(pids);
  });
});

describe("an invocation", () => {
  test("reuses an idle process", async () => {
    start({ maxEnvironments: 2 });
    for (let count = 0; count < 5; count += 1) await payload("echo", {});
    expect(host.pids("echo")).toHaveLength(1);
  });

  test("waits for a process when its function may not have another", async () => {
    start({ maxEnvironments: 2 });
    const payloads = await Promise.all(Array.from({ length: 10 }, (_, n) => payload("echo", n)));
    expect(payloads.map(({ event }) => event)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(host.pids("echo")).toHaveLength(2);
  });

  test.each([
    ["what its handler threw", "fail", "Unauthorized"],
    ["an error even if that has no message", "failSilently", "The error has no message"],
  ])("fails with %s", async (_, name, message) => {
    start();
    await expect(host.invoke(name, {})).rejects.toMatchObject({ message });
  });

  test("that fails leaves its process to the next one", async () => {
    start();
    for (const _ of ["first", "second"]) await failureOf("fail");
    expect(host.pids("fail")).toHaveLength(1);
    expect(ownLines(log)).toEqual([]);
  });

  test("that crashes its process fails with the reason, and leaves the next one a new process", async () => {
    start();
    for (const _ of ["first", "second"])
      expect(await failureOf("crash")).toMatchObject({
        message: "Runtime exited with exit status 3",
      });
    const ownLine = expect.stringMatching(/^crash: .*status 3, request [\da-f-]{36}$/);
    const ofOne = ["the reason of the crash", ownLine];
    expect(log).toEqual([...ofOne, ...ofOne]);
    // It counts as trouble.
    expect(troubles(log)).toEqual(log);
  });

  test("that times out fails with its time limit, ends its process and is logged once", async () => {
    start({ timeoutSeconds: 0.3 });
    expect(await failureOf("hang")).toMatchObject({
      message: "Task timed out after 0.30 seconds",
    });
    expect(host.pids("hang")).toEqual([]);
    expect(ownLines(log)).toEqual([
      expect.stringMatching(/^hang: Task timed out after 0.30 seconds, request [\da-f-]{36}$/),
    ]);
  });

  test("fails alone when it takes more memory than its function has", async () => {
    start();
    await expect(host.invoke("grow", { megabytes: 600 })).rejects.toThrow("Runtime exited with");
    expect(await payload("grow", { megabytes: 1 })).toEqual({ grown: 1 });
  });

  test("that is aborted while it waits never runs", async () => {
    start();
    const first = await stream("flood");
    const abort = new AbortController();
    const waiting = host.invoke("flood", {}, abort.signal);
    abort.abort(new Error("nobody waits"));
    await expect(waiting).rejects.toThrow("nobody waits");
    await text(first);
    await text(await stream("flood"));
    expect(log.filter((line) => line.includes('"chunk":0'))).toHaveLength(2);
  });

  test("fails when the host stops", async () => {
    start();
    const running = failureOf("hang");
    await host.stop();
    expect(await running).toMatchObject({ message: "The local stack has stopped" });
    expect(ownLines(log)).toEqual([]);
  });

  test("fails once the host has stopped", async () => {
    start();
    await host.stop();
    await expect(host.invoke("echo", {})).rejects.toThrow("The local stack has stopped");
  });
});

describe("a streamed response", () => {
  test("is whole after one whose reader left, in the same process", async () => {
    start();
    const abandoned = await stream("flood");
    await vi.waitFor(() => expect(abandoned.readableLength).toBeGreaterThan(0));
    const pids = host.pids("flood");
    abandoned.destroy();
    expect((await text(await stream("flood"))).length).toBe(1024 * 65_536);
    expect(host.pids("flood")).toEqual(pids);
    const chunks = log.filter((line) => line.includes('"chunk":'));
    expect(chunks.length).toBeLessThan(1.5 * 1024);
    expect(log).toEqual(chunks);
  });

  test("whose reader leaves while nothing comes lets its function notice at its next byte", async () => {
    start();
    (await stream("waiting")).destroy();
    await expect.poll(() => log).toEqual([expect.stringContaining('"connection":"broken"')]);
    const pids = host.pids("waiting");
    for (const pid of pids) process.kill(pid, "SIGUSR2");
    await host.invoke("waiting", {});
    expect(host.pids("waiting")).toEqual(pids);
    expect(log.slice(1)).toEqual([expect.stringContaining('"reader":"left"')]);
  });

  test("that begins after its reader has left is cut off", async () => {
    start();
    const abort = new AbortController();
    const invocation = host.invoke("late", {}, abort.signal);
    await expect.poll(() => log).toHaveLength(1);
    abort.abort(new Error("nobody waits"));
    await expect(invocation).rejects.toThrow("nobody waits");
    const pids = host.pids("late");
    for (const pid of pids) process.kill(pid, "SIGUSR2");
    await host.invoke("late", {});
    expect(host.pids("late")).toEqual(pids);
    expect(ownLines(log)).toEqual([]);
  });

  test.each([
    ["the handler's source breaks", "breakOff", "SIGUSR2"],
    ["the handler throws", "throwLate", "SIGUSR2"],
    ["its process is killed", "flood", "SIGKILL"],
  ] as const)("fails every time %s", async (_, name, signal) => {
    start();
    for (const _ of [1, 2]) {
      const body = (await stream(name)).on("error", () => {});
      for (const pid of host.pids(name)) process.kill(pid, signal);
      body.resume();
      await expect.poll(() => body.errored).toBeInstanceOf(Error);
      expect(body.readableEnded).toBe(false);
    }
  });

  test.each([
    { when: "its handler throws at once", name: "throwFirst", message: /^before the first byte$/ },
    {
      when: "it has no HTTP metadata",
      name: "noPrelude",
      message: /^The response has no HTTP metadata$/,
    },
  ])("never begins when $when", async ({ name, message }) => {
    start();
    await expect(host.invoke(name, {})).rejects.toThrow(message);
    expect(host.pids(name)).toHaveLength(1);
  });

  test("never begins when its metadata is not JSON", async () => {
    start();
    await expect(host.invoke("badPrelude", {})).rejects.toThrow(SyntaxError);
  });
});
