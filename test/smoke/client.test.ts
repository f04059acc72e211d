import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../infra/local/machine/ports.ts";
import { open, reason } from "../../infra/smoke/client.ts";
import { smoke } from "../../infra/smoke/smoke-test.ts";
import { whenStatus } from "./faults.ts";
import { tinyServiceForEachTest } from "./tiny-service.ts";

const service = tinyServiceForEachTest();

test.each<[unknown, string]>([
  [new AggregateError([new Error("::1"), new Error("127.0.0.1")], "all"), "::1; 127.0.0.1"],
  [new Error("fetch failed", { cause: new Error("reset") }), "fetch failed: reset"],
  ["nothing", "nothing"],
])("the reason for a failure joins the messages of its causes: $1", (error, expected) => {
  expect(reason(error)).toBe(expected);
});

describe("a server", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
  });

  test("may be silent for 30 seconds and no longer", async () => {
    const asked = Promise.withResolvers<void>();
    const { port, close } = await listen(0, () => asked.resolve());
    onTestFinished(close);
    const silent = smoke({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: service.apiKey }).next();
    await asked.promise;
    await vi.advanceTimersByTimeAsync(29_999);
    expect(await Promise.race([silent, "none"])).toBe("none");
    await vi.advanceTimersByTimeAsync(1);
    expect(await silent).toMatchObject({
      value: { kind: "FAIL", text: expect.stringContaining("silent for 30 s") },
    });
  });

  test("may close its connection while a list is read slowly", async () => {
    const closed = Promise.withResolvers<void>();
    const list = "x".repeat(300_000);
    const { port, close } = await listen(0, (_request, response) => {
      response.on("close", closed.resolve);
      response.writeHead(200, { connection: "close", "content-length": list.length }).end(list);
    });
    onTestFinished(close);
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const { text } = await open({ ...service, baseUrl }, { method: "GET", path: "/store/orders" });
    let length = 0;
    for await (const chunk of text) {
      length += chunk.length;
      await closed.promise;
      for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    }
    expect(length).toBe(list.length);
  });

  test("may take longer for a list that it has begun", async () => {
    const later = Promise.withResolvers<void>();
    const body = (async function* () {
      yield Buffer.from("[");
      await later.promise;
      yield Buffer.from("]");
    })();
    service.fault = whenStatus(200, { body });
    const { text } = await open(service, { method: "GET", path: "/store/orders" });
    await vi.advanceTimersByTimeAsync(60_000);
    later.resolve();
    expect((await Array.fromAsync(text)).join("")).toBe("[]");
  });
});
