import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../../infra/tools/local/machine/ports.ts";
import { list, smokeChecks } from "../../../infra/tools/smoke/checks.ts";
import { open, reason } from "../../../infra/tools/smoke/client.ts";
import { smoke } from "../../../infra/tools/smoke/smoke.ts";
import { isApiKey } from "../../../shared/api-keys.ts";
import { systemClock } from "../../../shared/clock.ts";
import { errorBody } from "../../../shared/errors.ts";
import { isInt64 } from "../../../shared/order.ts";
import {
  type Fault,
  hangUp,
  lineOf,
  type TinyResponse,
  tinyServiceForEachTest,
  when,
} from "./tiny-service.ts";

const service = tinyServiceForEachTest();

/** Runs the smoke test. @returns every line but the passes. */
async function findings(
  options: Partial<Parameters<typeof smoke>[0]> = {},
  clock = systemClock,
) {
  const lines = await Array.fromAsync(smoke({ ...service, ...options }, clock));
  return lines
    .filter(({ kind }) => kind !== "pass")
    .map(({ kind, text }) => `${kind} ${text}`);
}

describe("the smoke test", () => {
  test("accepts AWS's own 413", async () => {
    service.fault = when(/ 413$/, {
      headers: { "Content-Type": "text/html" },
      body: "Large",
    });
    expect(await findings()).toEqual([]);
  });

  test("hangs up on a plain list after a million characters", async () => {
    const hungUp = Promise.withResolvers<void>();
    async function* long() {
      try {
        yield '[{"id":1}';
        for (let id = 2; id < 200; id += 1) yield `,{"id":${id}${" ".repeat(100_000)}}`;
      } finally {
        hungUp.resolve();
      }
    }
    service.fault = when(/ identity {2}200$/, { body: long() });
    expect(await findings()).toEqual([]);
    await hungUp.promise;
  });

  test("sends these requests, of which none can cancel an order", async () => {
    const exchanges: string[] = [];
    service.fault = (request, right) => {
      const line = lineOf(request, right)
        .replace(/-\d+/, (id) => (isInt64(id) ? "NEGATIVE" : id))
        // The gateway rejects the keys of other environments by itself.
        .replace(/pets_test_\w+/, (key) => (isApiKey(key) ? "UNISSUED" : key))
        .replace(/MISTYPED./, "MISTYPED");
      exchanges.push(line);
      return right;
    };
    await findings();
    expect(exchanges).toEqual([
      "GET /store/orders keyless gzip  401",
      "DELETE /store/orders/none keyless gzip  401",
      "DELETE /store/orders/NEGATIVE Bearer KEY gzip  404",
      "GET /store/orders Bearer KEY gzip  200",
      "GET /store/orders Bearer KEY identity  200",
      "GET /store/orders Bearer no-key gzip  401",
      "DELETE /store/orders/none Bearer no-key gzip  401",
      "GET /store/orders Bearer MISTYPED gzip  401",
      "DELETE /store/orders/none Bearer MISTYPED gzip  401",
      "GET /store/orders Bearer KEY0 gzip  401",
      "DELETE /store/orders/none Bearer KEY0 gzip  401",
      "GET /store/orders Basic bm86a2V5 gzip  401",
      "DELETE /store/orders/none Basic bm86a2V5 gzip  401",
      "GET /store/orders Bearer UNISSUED gzip  401",
      "DELETE /store/orders/none Bearer UNISSUED gzip  401",
      "GET /store/orders Bearer UNISSUED gzip  401",
      "DELETE /store/orders/none Bearer UNISSUED gzip  401",
      "DELETE /store/orders/none bEARER  KEY gzip  404",
      "DELETE /store/orders/abc Bearer KEY gzip  404",
      "DELETE /store/orders/007 Bearer KEY gzip  404",
      "DELETE /store/orders/1.0 Bearer KEY gzip  404",
      "DELETE /store/orders/9223372036854775808 Bearer KEY gzip  404",
      "GET /nope Bearer KEY gzip  404",
      "GET /nope/1 Bearer KEY gzip  404",
      "GET /store/orders/1/2 Bearer KEY gzip  404",
      "GET /store Bearer KEY gzip  404",
      "GET /nope keyless gzip  404",
      "GET /nope/1 keyless gzip  404",
      "GET /store/orders/1/2 keyless gzip  404",
      "GET /store keyless gzip  404",
      "PATCH /store/orders Bearer KEY gzip  405",
      "PATCH /store/orders Bearer KEY gzip {} 405",
      "PUT /store/orders Bearer KEY gzip  405",
      "PUT /store/orders Bearer KEY gzip {} 405",
      "PATCH /store/orders/none Bearer KEY gzip  405",
      "PATCH /store/orders/none Bearer KEY gzip {} 405",
      "PUT /store/orders/none Bearer KEY gzip  405",
      "PUT /store/orders/none Bearer KEY gzip {} 405",
      "DELETE /store/orders/none Bearer KEY gzip {} 404",
      "POST /nope Bearer KEY gzip {} 415",
      "POST /nope Bearer KEY gzip xx 413",
    ]);
  });
});

describe("a new stage", () => {
  /** Runs the smoke test on a service with a fault until `readyAt`. Only pauses move its clock. */
  async function smokeTest(fault: Fault, waitSeconds = 120, readyAt = 200, more = {}) {
    let waited = 0;
    const pause = async (milliseconds: number) => {
      waited += milliseconds / 1000;
    };
    service.fault = (request, right) =>
      waited < readyAt ? fault(request, right) : right;
    const clock = { now: () => waited * 1000, pause };
    const lines = await findings({ waitSeconds, ...more }, clock);
    return { waited, lines, kinds: lines.map((line) => line.split(" ")[0]) };
  }
  const everything = when(/./, { status: 500, body: "" });
  const operation = (name: string, change: Partial<TinyResponse>): Fault =>
    when(new RegExp(`^${name} .* (200|404)$`), change);

  test.each([
    ["fails at everything", everything],
    ["may not call the list's function", operation("GET", { status: 500, body: "" })],
    ["may not call the cancellation's function", operation("DELETE", { status: 403 })],
    [
      "has no route for lists",
      operation("GET", { status: 404, body: errorBody("resource_not_found") }),
    ],
    [
      "has no route for cancellations",
      operation("DELETE", { body: errorBody("resource_not_found") }),
    ],
  ])("gets time, announced with one line, while it %s", async (_symptom, fault) => {
    expect((await smokeTest(fault, 120, 40)).kinds).toEqual(["waiting"]);
  });

  test("gets time while nothing listens, and then fails with one line", async () => {
    await service.stop();
    const { waited, lines } = await smokeTest(everything, 10);
    expect(waited).toBe(10);
    const seen = "401 without a key.*: no response from http:\\S+/v1: .*ECONNREFUSED";
    expect(lines).toEqual([
      expect.stringMatching(`^waiting up to 10 s for the stage to be ready\\. ${seen}`),
      expect.stringMatching(`^FAIL ${seen}`),
    ]);
  });

  test("is not asked again before a pause is over", async () => {
    let now = 0;
    const pause = () => Promise.reject(new Error("still pausing"));
    service.fault = everything;
    const asking = findings({ waitSeconds: 1 }, { now: () => (now += 100), pause });
    await expect(asking).rejects.toThrow("still pausing");
  });

  test("fails every check when the time that they share is over", async () => {
    const { waited, kinds } = await smokeTest(everything, 121, 200, { thorough: true });
    expect(waited).toBe(121);
    expect(kinds).toEqual([
      "waiting",
      ...Object.keys(smokeChecks("", true)).map(() => "FAIL"),
    ]);
  });

  test.each([
    ["a wrong list", when(/ 200$/, { body: "[1]" })],
    ["a list that is cut off", hangUp],
    ["a rejected key", operation("GET", { status: 401 })],
    ["a 500 for an uncompressed list", when(/ identity /, { status: 500 })],
  ])("fails at once for %s", async (_reason, fault) => {
    const { waited, kinds } = await smokeTest(fault);
    expect(waited).toBe(0);
    expect(kinds).toContain("FAIL");
  });
});

test("the checks after one without a response follow, unless it is the first", async () => {
  // Not HTTP to Node.js's client.
  service.fault = when(/ \/nope /, { headers: { "Content-Length": "x" } });
  const failed = expect.stringMatching(/^FAIL .*: no response from /);
  expect(await findings()).toEqual([failed, failed, failed]);
});

test("the reason that no address of a host responds is the error's code", () => {
  const error = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });
  expect(reason(error)).toBe("ECONNREFUSED");
});

test("a server may close its connection while a list is read slowly", async () => {
  const closed = Promise.withResolvers<void>();
  const length = 300_000;
  const { port, close } = await listen(0, (_request, response) => {
    response.on("close", closed.resolve);
    response
      .writeHead(200, { connection: "close", "content-length": length })
      .end("x".repeat(length));
  });
  onTestFinished(close);
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const { text } = await open({ ...service, baseUrl }, list);
  let read = 0;
  for await (const chunk of text) {
    read += chunk.length;
    await closed.promise;
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  }
  expect(read).toBe(length);
});

test("a server may be silent for 30 seconds, or longer once a list has begun", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const asked = Promise.withResolvers<void>();
  const { port, close } = await listen(0, () => asked.resolve());
  onTestFinished(close);
  const silent = findings({ baseUrl: `http://127.0.0.1:${port}/v1` });
  const later = Promise.withResolvers<void>();
  const body = (async function* () {
    yield "[";
    await later.promise;
    yield "]";
  })();
  service.fault = when(/ 200$/, { body });
  const { text } = await open(service, list);
  await asked.promise;
  await vi.advanceTimersByTimeAsync(29_999);
  expect(await Promise.race([silent, "none"])).toBe("none");
  await vi.advanceTimersByTimeAsync(1);
  expect(await silent).toEqual([expect.stringMatching(/^FAIL .*: silent for 30 s$/)]);
  await vi.advanceTimersByTimeAsync(60_000);
  later.resolve();
  expect((await Array.fromAsync(text)).join("")).toBe("[]");
});
