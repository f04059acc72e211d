import { Server } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import { isAlive } from "../helpers/processes.ts";
import { ownLines } from "../helpers/trouble.ts";
import { type HostOptions, startHost, streamOf } from "./functions/host.ts";

let host: LambdaHost;
let log: string[];

/** Starts a host of the functions of this test. */
function start(options?: HostOptions): void {
  log = [];
  host = startHost((line) => log.push(line), options);
}

const stream = (name: string) => streamOf(host, name);

afterEach(() => host.stop());

describe("an invocation", () => {
  test("reuses an idle process, and waits for one when the function has as many as it may", async () => {
    start({ maxEnvironments: 2 });
    for (let count = 0; count < 5; count += 1) await payload("echo", {});
    expect(host.pids("echo")).toHaveLength(1);
    const payloads = await Promise.all(Array.from({ length: 10 }, (_, n) => payload("echo", n)));
    expect(payloads.map(({ event }) => event)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(host.pids("echo")).toHaveLength(2);
  });

  test("fails with what its handler threw, and the process lives on", async () => {
    start();
    for (const _ of [1, 2]) await expect(host.invoke("fail", {})).rejects.toMatchObject({ message: "Unauthorized" });
    expect(host.pids("fail")).toHaveLength(1);
  });

  test("fails when its process ends, and the next gets a new one", async () => {
    start();
    for (const _ of [1, 2])
      await expect(host.invoke("crash", {})).rejects.toMatchObject({ errorType: "Runtime.ExitError" });
    const lines = ["the reason of the crash", expect.stringMatching(/^crash: .*status 3/)];
    expect(log).toEqual([...lines, ...lines]);
    expect(ownLines(log)).toEqual(log);
  });

  test("fails when it times out, and its process is ended", async () => {
    start({ timeoutSeconds: 0.3 });
    await expect(host.invoke("hang", {})).rejects.toMatchObject({ errorType: "Sandbox.Timedout" });
    expect(host.pids("hang")).toEqual([]);
    expect(ownLines(log)).toEqual([expect.stringMatching(/^hang: Task timed out after 0.30 seconds, request /)]);
  });

  test("fails when it takes more memory than its function has, and the next is served", async () => {
    start();
    await expect(host.invoke("grow", { megabytes: 600 })).rejects.toMatchObject({ errorType: "Runtime.ExitError" });
    expect(await payload("grow", { megabytes: 1 })).toEqual({ grown: 1 });
  });

  test("that is aborted before it begins starts nothing", async () => {
    start();
    const listening = vi.spyOn(Server.prototype, "listen");
    onTestFinished(() => listening.mockRestore());
    await expect(host.invoke("echo", {}, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    expect(listening).not.toHaveBeenCalled();
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

  test("fails when the host stops, and so does one that comes later", async () => {
    start();
    const running = host.invoke("hang", {}).catch((error: unknown) => error);
    await host.stop();
    expect(await running).toMatchObject({ errorType: "Sandbox.Stopped" });
    await expect(host.invoke("echo", {})).rejects.toMatchObject({ errorType: "Sandbox.Stopped" });
    expect(ownLines(log)).toEqual([]);
  });
});

describe("a streamed response", () => {
  test.each([
    ["while more comes", "flood"],
    ["while nothing comes", "breakOff"],
  ])(
    "ends its function when the reader leaves %s, without logging a crash, and the next is served",
    async (_, name) => {
      start();
      const body = await stream(name);
      await expect.poll(() => body.readableLength).toBeGreaterThan(0);
      const [pid = 0] = host.pids(name);
      body.destroy();
      await expect.poll(() => isAlive(pid)).toBe(false);
      expect(ownLines(log)).toEqual([]);
      expect((await text(await stream("flood"))).length).toBe(1024 * 65_536);
    },
  );

  test.each([
    ["the handler's source breaks", "breakOff", "SIGUSR2"],
    ["the handler throws", "throwLate", "SIGUSR2"],
    ["its process is killed", "flood", "SIGKILL"],
  ] as const)("fails when %s, and so does the next", async (_, name, signal) => {
    start();
    for (const _ of [1, 2]) {
      const body = (await stream(name)).on("error", () => {});
      for (const pid of host.pids(name)) process.kill(pid, signal);
      body.resume();
      await expect.poll(() => body.errored).toBeInstanceOf(Error);
      expect(body.readableEnded).toBe(false);
    }
  });

  test("never begins when the handler throws before its first byte", async () => {
    start();
    await expect(host.invoke("throwFirst", {})).rejects.toMatchObject({ message: "before the first byte" });
    expect(host.pids("throwFirst")).toHaveLength(1);
  });
});

async function payload(name: string, event: unknown): Promise<Record<string, unknown>> {
  const response = await host.invoke(name, event);
  return response.kind === "buffered" ? JSON.parse(response.payload) : {};
}
