import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { listenOn } from "../../../infra/tools/local/machine/ports.ts";
import { send } from "../../helpers/send.ts";
import { ownLines } from "../../helpers/trouble.ts";
import { invoking, startPets, streaming, until } from "./pets.ts";

const buffered = ["echo", "exit", "fail", "missing", "gone", "hang", "never"];
const streamed = [
  "breakOff",
  "crash",
  "flood",
  "late",
  "noPrelude",
  "throwFirst",
  "throwLate",
  "waiting",
];
const { baseUrl, call, dynamodbEndpoint, log, pids, stop } = await startPets(
  Object.fromEntries([
    ...buffered.map((name) => [`ANY /${name}`, invoking(name)]),
    ...streamed.map((name) => [`ANY /${name}`, streaming(name)]),
  ]),
  { maxEnvironments: 1 },
  {
    echo: { Environment: { Variables: { PETS: "cats" } } },
    hang: { Timeout: 0.3 },
    never: { Handler: "never.handler" },
    gone: { Code: { S3Key: "gone.zip" } },
  },
);
afterAll(stop);
beforeEach(() => {
  log.length = 0;
});

const failed = { status: 502, body: "INTEGRATION_FAILURE" };
const echo = async () => JSON.parse((await call("/echo")).body);

const ask = (name: string, body = "") =>
  request(`${baseUrl}/${name}`, { method: "POST", agent: false })
    .on("error", () => {})
    .end(body);

async function stream(name: string) {
  const [response] = await once(ask(name), "response");
  return response;
}

async function expectKept(name: string, run: () => Promise<unknown>) {
  const before = await pids(name);
  await run();
  expect(await pids(name)).toEqual(before);
}

async function kill(name: string, signal: NodeJS.Signals) {
  for (const pid of await pids(name)) process.kill(pid, signal);
}

test("a process gets whole events, and has what Lambda gives a function and nothing of the host", async () => {
  const body = "€".repeat(100_000);
  const response = await call("/echo", { method: "POST", body });
  const masked = response.body
    .replaceAll(`${import.meta.dirname}/asset.pets`, "DIRECTORY")
    .replace(dynamodbEndpoint, "ENDPOINT")
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, "ID")
    .replace(/(?<="127\.0\.0\.1:)\d+/, "PORT")
    .replace(/(?<="remaining":)89[5-9]\d{3}|900000/, '"up to 900 s"');
  const { event, ...has } = JSON.parse(masked);
  expect(event.body).toBe(body);
  expect(has).toMatchInlineSnapshot(`
    {
      "awsRequestId": "ID",
      "environment": {
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_DYNAMODB": "ENDPOINT",
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

test("a process serves request after request, and further ones wait for those that may start", async () => {
  const options = { maxEnvironments: 2, dynamodbEndpoint };
  const changes = { reused: { Handler: "index.echo" } };
  await using pets = await startPets({ "GET /": invoking("reused") }, options, changes);
  for (const _ of ["first", "second", "third"]) await pets.call("");
  expect(await pids("reused")).toHaveLength(1);
  const held: ServerResponse[] = [];
  const gate = createServer((_, response) => void held.push(response));
  const port = await listenOn(gate);
  onTestFinished(() => void gate.close());
  const responses = Array.from("0123456789", (index) =>
    pets.call(`?gate=${port}&index=${index}`),
  );
  await expect.poll(() => held).toHaveLength(2);
  expect(await pids("reused")).toHaveLength(2);
  gate.on("request", (_, response) => response.end());
  for (const response of held) response.end();
  const echoed = (await Promise.all(responses)).map(({ body }) => JSON.parse(body));
  const indexes = echoed.map(({ event }) => event.queryStringParameters.index);
  expect(indexes.join("")).toBe("0123456789");
  expect(new Set(echoed.map(({ awsRequestId }) => awsRequestId)).size).toBe(10);
  expect(await pids("reused")).toHaveLength(2);
});

test("a process that does not start in 10 seconds fails its request", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const responded = vi.fn<() => void>();
  const response = call("/never").finally(responded);
  await until(async () => (await pids("never")).length > 0);
  vi.advanceTimersByTime(9_999);
  await echo();
  expect(responded).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(await response).toMatchObject(failed);
  expect(log).toEqual(["never: Init timed out after 10.00 seconds"]);
});

test("a process that is debugged takes a debugger before its first request, at a port that is free", async () => {
  const other = createServer();
  onTestFinished(() => void other.close());
  // Unless it is taken already, perhaps for a moment.
  const taken = await listenOn(other, 9229).catch(() => undefined);
  await using debugged = await startPets(
    { "GET /echo": invoking("echo") },
    { inspect: true, dynamodbEndpoint },
  );
  const ports = () =>
    debugged.log.join("\n").match(/(?<=a debugger can attach to )\S+/g) ?? [];
  await expect.poll(ports).toHaveLength(2);
  expect(ports()).not.toContain(`127.0.0.1:${taken}`);
  for (const port of ports()) {
    const attach = () => fetch(`http://${port}/json/list`);
    await expect.poll(() => attach().catch(() => "no one")).toMatchObject({ ok: true });
  }
});

test.each([
  ["missing", /^missing: index.missing is undefined or not exported$/],
  ["gone", /^gone: Runtime exited with spawn .* ENOENT$/],
])("a process says why its function can't be loaded: %s", async (name, line) => {
  // The second waits for a process of its own.
  const responses = await Promise.all([call(`/${name}`), call(`/${name}`)]);
  expect(responses).toMatchObject([failed, failed]);
  expect(log).toContainEqual(expect.stringMatching(line));
});

test.each([
  ["a rebound DNS name", "invocation/next", { headers: { host: "example.com" } }],
  [
    "a page of another origin",
    "init/error",
    { method: "POST", headers: { origin: "https://example.com" } },
  ],
  ["an image", "invocation/next", { headers: { "sec-fetch-site": "cross-site" } }],
])("a process ignores %s, and takes the next event", async (_, operation, options) => {
  const { environment } = await echo();
  const url = `http://${environment.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/${operation}`;
  await expectKept("echo", async () => {
    expect((await send(url, options)).status).toBe(403);
    await echo();
  });
});

test.each(["fail", "throwFirst", "noPrelude"])(
  "a request whose function fails leaves its process to the next one: %s",
  async (name) => {
    expect(await call(`/${name}`)).toMatchObject(failed);
    await expectKept(name, async () =>
      expect(await call(`/${name}`)).toMatchObject(failed),
    );
    expect(ownLines(log)).toEqual([]);
  },
);

test.each(["crash", "exit"])(
  "a request that ends its process leaves the next one a new process: %s",
  async (name) => {
    for (const _ of ["first", "second"])
      expect(await call(`/${name}`)).toMatchObject(failed);
    const line = `^${name}: Runtime exited with exit status 3, request [\\da-f-]{36}$`;
    const ofOne = ["the reason", expect.stringMatching(line)];
    await expect.poll(() => log).toEqual([...ofOne, ...ofOne]);
  },
);

test("a request that takes too long ends its process and is logged once", async () => {
  expect(await call("/hang")).toMatchObject(failed);
  expect(await pids("hang")).toEqual([]);
  const line = /^hang: Task timed out after 0.30 seconds, request [\da-f-]{36}$/;
  expect(ownLines(log)).toEqual([expect.stringMatching(line)]);
});

test("a request whose client leaves while it waits never runs", async () => {
  const waits = () => log.filter((line) => line.includes("waits"));
  const running = once(ask("late", "1"), "response");
  await expect.poll(waits).toHaveLength(1);
  const waiting = ask("late", "1");
  await once(waiting, "finish");
  await echo();
  waiting.destroy();
  await echo();
  await kill("late", "SIGUSR2");
  for (const response of await running) response.resume();
  await call("/late", { method: "POST", body: "1" });
  expect(waits()).toHaveLength(2);
});

test("a request fails when the stack stops, whether it runs or waits", async () => {
  const options = { maxEnvironments: 1, dynamodbEndpoint };
  const stopped = await startPets({ "GET /hang": invoking("hang") }, options);
  const requests = Promise.allSettled([stopped.call("/hang"), stopped.call("/hang")]);
  await expect.poll(() => stopped.log).toHaveLength(1);
  await stopped.stop();
  await requests;
  expect(ownLines(stopped.log)).toEqual([]);
});

test("a streamed response is whole after one whose client left, in the same process", async () => {
  (await stream("flood")).destroy();
  await expectKept("flood", async () =>
    expect((await call("/flood")).body).toHaveLength(512 * 65_536),
  );
  expect(log.length).toBeLessThan(1.5 * 512);
  expect(ownLines(log)).toEqual([]);
});

test("a streamed response whose client leaves while nothing comes lets its function notice at its next byte", async () => {
  const events = () => log.map((line) => JSON.parse(line).message);
  (await stream("waiting")).destroy();
  await expect.poll(events).toEqual(["the connection is broken"]);
  await kill("waiting", "SIGUSR2");
  await expectKept("waiting", () => call("/waiting"));
  await expect
    .poll(events)
    .toEqual(["the connection is broken", "the source is destroyed"]);
});

test.each([
  ["its source breaks", "breakOff", "SIGUSR2"],
  ["the handler throws", "throwLate", "SIGUSR2"],
  ["its process is killed", "flood", "SIGKILL"],
] as const)("a streamed response breaks off every time %s", async (_, name, signal) => {
  for (const _ of ["first", "second"]) {
    const response = await stream(name);
    await kill(name, signal);
    await expect(text(response)).rejects.toThrow("aborted");
  }
});
