import { once } from "node:events";
import { createServer } from "node:http";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createLambdaHost } from "../../../infra/tools/local/lambda/lambda-host.ts";
import { freePort, listenOn } from "../../../infra/tools/local/machine/ports.ts";
import type { FunctionDefinition } from "../../../infra/tools/local/template/functions.ts";
import { beforeTests } from "../../helpers/before-tests.ts";
import { functionProcesses } from "../../helpers/processes.ts";
import { send } from "../../helpers/send.ts";
import { ownLines } from "../../helpers/trouble.ts";
import { petFunctions } from "./pets.ts";

const log: string[] = [];
beforeEach(() => {
  log.length = 0;
});

/** Starts a host of functions that logs to `log`. */
function startHost(
  functions: Record<string, Partial<FunctionDefinition>>,
  maxEnvironments?: number,
) {
  const host = createLambdaHost(petFunctions(functions), {
    log: (line) => void log.push(line),
    ...(maxEnvironments && { maxEnvironments }),
  });
  return { ...host, [Symbol.asyncDispose]: host.stop };
}

const host = beforeTests(async (running) =>
  running.use(
    startHost(
      {
        breakOff: {},
        crash: {},
        echo: { Environment: { Variables: { PETS: "cats" } } },
        exit: {},
        fail: {},
        flood: {},
        gone: { directory: "/nowhere" },
        hang: { Timeout: 0.3 },
        late: {},
        missing: {},
        never: { Handler: "never.handler" },
        noPrelude: {},
        throwFirst: {},
        throwLate: {},
        waiting: {},
      },
      1,
    ),
  ),
);

/** Waits for an invocation's end. One that never comes is red within a poll's limit. */
function ending<T>(invoked: Promise<T>) {
  const never = once(AbortSignal.timeout(15_000), "abort").then(() =>
    Promise.reject(new Error("The invocation never ends")),
  );
  return Promise.race([invoked, never]);
}

const echo = async (event: object = {}) =>
  Object((await ending(host.invoke("echo", event))).returned);

/** Invokes a function that streams. */
async function stream(name: string, event: unknown = {}, signal?: AbortSignal) {
  const { body = new PassThrough() } = await ending(host.invoke(name, event, signal));
  return body;
}

async function expectFailure(invoked: Promise<unknown>) {
  await expect(ending(invoked)).rejects.toMatchObject({ name: "FunctionFailure" });
}

const pids = async (name: string) =>
  (await functionProcesses()).filter((one) => one.name === name).map(({ pid }) => pid);

async function expectKept(name: string, run: () => Promise<unknown>) {
  const before = await pids(name);
  await run();
  expect(await pids(name)).toEqual(before);
}

async function kill(name: string, signal: NodeJS.Signals) {
  for (const pid of await pids(name)) process.kill(pid, signal);
}

test("a process gets whole events, and has what Lambda gives a function and nothing of the host", async () => {
  const event = { body: "€".repeat(100_000) };
  const masked = JSON.stringify(await echo(event))
    .replaceAll(`${import.meta.dirname}/asset.pets`, "DIRECTORY")
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, "ID")
    .replace(/(?<="127\.0\.0\.1:)\d+(?=")/, "PORT")
    .replace(/(?<="remaining":)89[5-9]\d{3}|900000/, '"up to 900 s"');
  const { event: received, ...has } = JSON.parse(masked);
  expect(received).toEqual(event);
  expect(has).toMatchInlineSnapshot(`
    {
      "awsRequestId": "ID",
      "environment": {
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:4000",
        "AWS_EXECUTION_ENV": "AWS_Lambda_nodejs24.x",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
        "AWS_LAMBDA_FUNCTION_NAME": "echo",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
        "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/echo",
        "AWS_LAMBDA_LOG_LEVEL": "INFO",
        "AWS_LAMBDA_LOG_STREAM_NAME": "local/[$LATEST]ID",
        "AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1": "true",
        "AWS_LAMBDA_RUNTIME_API": "127.0.0.1:PORT",
        "AWS_REGION": "us-east-1",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_SESSION_TOKEN": "local",
        "HOME": "DIRECTORY",
        "LAMBDA_TASK_ROOT": "DIRECTORY",
        "PETS": "cats",
        "TZ": ":UTC",
        "_HANDLER": "index.echo",
      },
      "home": "DIRECTORY",
      "invokedFunctionArn": "arn:aws:lambda:us-east-1:000000000000:function:echo",
      "limits": [
        "--max-semi-space-size=6",
        "--max-old-space-size=115",
        "--enable-source-maps",
      ],
      "remaining": "up to 900 s",
    }
  `);
});

test("a process serves request after request, and further ones wait for the four that may start", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const reused = { Handler: "index.echo" };
  await using other = startHost({ reused });
  for (const _ of ["first", "second", "third"]) {
    await other.invoke("reused", {});
    // More than a process may take to start.
    vi.advanceTimersByTime(11_000);
  }
  expect(await pids("reused")).toHaveLength(1);
  const events = Array.from("0123456789", (index) => ({ index }));
  const invoked = await Promise.all(events.map((event) => other.invoke("reused", event)));
  const returned = invoked.map(({ returned }) => Object(returned));
  expect(returned.map(({ event }) => event)).toEqual(events);
  expect(new Set(returned.map(({ awsRequestId }) => awsRequestId)).size).toBe(10);
  expect(await pids("reused")).toHaveLength(4);
  expect(ownLines(log)).toEqual([]);
});

test("a process that does not start in 10 seconds fails its request, unless it is debugged", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const slow = { Handler: "never.handler", inspectPort: 9229 };
  await using debugged = startHost({ slow });
  debugged.warm();
  const ended = vi.fn<() => void>();
  const never = expectFailure(host.invoke("never", {})).finally(ended);
  while ((await pids("never")).length === 0) await setImmediate();
  vi.advanceTimersByTime(9_999);
  await echo();
  expect(ended).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  await expect.poll(() => ended).toHaveBeenCalled();
  await never;
  const timeouts = log.filter((line) => line.includes("timed out"));
  expect(timeouts).toEqual(["never: Init timed out after 10.00 seconds"]);
});

test("a process that is debugged takes a debugger before its first request, at a port that is free", async () => {
  const other = createServer();
  onTestFinished(() => void other.close());
  const inspectPort = await listenOn(other);
  // Below the ports that connections of other processes take at any moment.
  const free = await freePort("127.0.0.1", 10_000 + (process.pid % 20_000));
  const functions = { echo: { inspectPort }, fail: { inspectPort: free } };
  await using debugged = startHost(functions);
  debugged.warm();
  const started = /^(\w+): a debugger can attach to 127\.0\.0\.1:(\d+)$/gm;
  const ports = () => {
    const lines = log.join("\n").matchAll(started);
    return Object.fromEntries(Array.from(lines, ([, name, port]) => [name, port]));
  };
  await expect.poll(ports).toEqual({ echo: expect.any(String), fail: `${free}` });
  expect(ports()["echo"]).not.toBe(`${inspectPort}`);
  for (const port of Object.values(ports())) {
    const attach = () => fetch(`http://127.0.0.1:${port}/json/list`);
    await expect.poll(() => attach().catch(() => "no one")).toMatchObject({ ok: true });
  }
  // Its debugger is attached to the only one.
  await ending(Promise.all([debugged.invoke("echo", {}), debugged.invoke("echo", {})]));
  expect(ownLines(log)).toHaveLength(2);
});

const exited = (name: string) =>
  `the reason\n${name}: Runtime exited with exit status 3, request [\\da-f-]{36}`;
test.each([
  ["missing", ".*\nmissing: index.missing is undefined or not exported"],
  ["gone", "gone: Runtime exited with spawn .* ENOENT"],
  ["crash", exited("crash")],
  ["exit", exited("exit")],
])(
  "a request that ends its process says why, and leaves the next one a new process: %s",
  async (name, lines) => {
    // The second waits until the first has ended the only one.
    const invoked = ["first", "second"].map(() => expectFailure(host.invoke(name, {})));
    await expect.poll(() => log.join("\n")).toMatch(RegExp(`^${lines}\n${lines}$`));
    await Promise.all(invoked);
  },
);

test.each([
  ["a rebound DNS name", { host: "example.com" }],
  ["a page of another origin", { origin: "https://example.com" }],
  ["an image", { "sec-fetch-site": "cross-site" }],
])("a process ignores %s, and takes the next event", async (_, headers) => {
  const { environment } = await echo();
  // A request for the next event, if it isn't ignored, waits for ever.
  const url = `http://${environment.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/init/error`;
  await expectKept("echo", async () => {
    const { status } = await send(url, { method: "POST", headers, body: "{}" });
    expect(status).toBe(403);
    await echo();
  });
});

test.each(["fail", "throwFirst", "noPrelude"])(
  "a request whose function fails leaves its process to the next one: %s",
  async (name) => {
    await expectFailure(host.invoke(name, {}));
    await expectKept(name, () => expectFailure(host.invoke(name, {})));
    expect(ownLines(log)).toEqual([]);
  },
);

test("a request that takes too long ends its process and is logged once", async () => {
  await expectFailure(host.invoke("hang", {}));
  expect(await pids("hang")).toEqual([]);
  const line = /^hang: Task timed out after 0.30 seconds, request [\da-f-]{36}$/;
  expect(ownLines(log)).toEqual([expect.stringMatching(line)]);
});

test("a request whose client leaves while it waits never runs", async () => {
  const waits = () => log.filter((line) => line.includes("waits"));
  const running = stream("late", 1);
  await expect.poll(waits).toHaveLength(1);
  const leaving = new AbortController();
  const left = expect(host.invoke("late", 2, leaving.signal)).rejects.toBe("left");
  leaving.abort("left");
  await left;
  await kill("late", "SIGUSR2");
  await text(await running);
  await text(await stream("late", 3));
  // A line may come after its response.
  await expect.poll(() => waits().at(-1)).toContain("waits 3");
  expect(waits()).toHaveLength(2);
});

test("a request fails when the stack stops, whether it runs or waits", async () => {
  await using stopped = startHost({ hang: {} }, 1);
  const invoked = [stopped.invoke("hang", {}), stopped.invoke("hang", {})];
  const failed = Promise.all(invoked.map(expectFailure));
  await expect.poll(() => log).toHaveLength(1);
  await stopped.stop();
  await failed;
  expect(ownLines(log)).toEqual([]);
});

test("a streamed response is whole after one whose client left, in the same process", async () => {
  (await stream("flood")).destroy();
  await expectKept("flood", async () =>
    expect(await text(await stream("flood"))).toHaveLength(512 * 65_536),
  );
  expect(log.length).toBeLessThan(1.5 * 512);
  expect(ownLines(log)).toEqual([]);
});

test("a streamed response whose client leaves while nothing comes lets its function notice at its next byte", async () => {
  const events = () =>
    log
      .map((line) => JSON.parse(line).message)
      .filter((event) => typeof event === "string");
  const leaving = new AbortController();
  await stream("waiting", {}, leaving.signal);
  leaving.abort();
  await expect.poll(events).toEqual(["the connection is broken"]);
  await kill("waiting", "SIGUSR2");
  await expectKept("waiting", async () => text(await stream("waiting")));
  await expect
    .poll(events)
    .toEqual(["the connection is broken", "the source is destroyed"]);
});

test.each([
  ["its source breaks", "breakOff", "SIGUSR2", "aborted", "exit status 1"],
  ["the handler throws", "throwLate", "SIGUSR2", "too late", undefined],
  ["its process is killed", "flood", "SIGKILL", "aborted", "signal SIGKILL"],
] as const)(
  "a streamed response breaks off every time %s",
  async (_, name, signal, reason, end) => {
    for (const _ of ["first", "second"]) {
      const body = await stream(name);
      await kill(name, signal);
      await expect(text(body)).rejects.toThrow(reason);
    }
    const ends = () =>
      log.flatMap((line) => /Runtime exited with (.*),/.exec(line)?.[1] ?? []);
    await expect.poll(ends).toEqual(end ? [end, end] : []);
  },
);
