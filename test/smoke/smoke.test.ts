import { beforeEach, describe, expect, test } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { smoke } from "../../infra/smoke/smoke-test.ts";
import { isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { systemClock } from "../../shared/clock.ts";
import { type Fault, type TinyRequest, type TinyResponse, when, whenStatus } from "./faults.ts";
import { pendingOrder, tinyServiceForEachTest } from "./tiny-service.ts";

const service = tinyServiceForEachTest();

/** Runs the smoke test. @returns every line but the passes. */
async function findings(options: { cancel?: string } = {}): Promise<string[]> {
  const lines = await Array.fromAsync(smoke({ ...service, ...options }));
  return lines.filter(({ kind }) => kind !== "pass").map(({ kind, text }) => `${kind} ${text}`);
}

/** Records every request from now on; the responses are right, or those of a fault. */
function recorded(fault: Fault = (_request, right) => right): TinyRequest[] {
  const requests: TinyRequest[] = [];
  service.fault = (request, right) => {
    requests.push(request);
    return fault(request, right);
  };
  return requests;
}

const isPlainList = ({ headers }: TinyRequest, { status }: TinyResponse): boolean =>
  status === 200 && headers["accept-encoding"] === "identity";

/** The keys that a check sends. */
async function keysOf(check: string, apiKey: string): Promise<(string | undefined)[]> {
  const requests = recorded();
  const run = Object.entries(smokeChecks()).find(([name]) => name.includes(check))?.[1];
  await run?.({ ...service, apiKey }, systemClock);
  return [...new Set(requests.map(({ key }) => key))];
}

describe("the smoke test", () => {
  test("finds nothing in a service that does what it promises", async () => {
    expect(await findings({ cancel: pendingOrder })).toEqual([]);
  });

  test("says in one line that the order to cancel was cancelled already", async () => {
    await findings({ cancel: pendingOrder });
    expect(await findings({ cancel: pendingOrder })).toEqual([
      expect.stringMatching(/^FAIL 204 for .* was not pending\. Name one that is$/),
    ]);
  });

  test("ends after one line where nothing listens", async () => {
    await service.stop();
    expect(await findings()).toEqual([
      expect.stringMatching(/^FAIL .*no response from http:\S+\/v1: .*ECONNREFUSED/),
    ]);
  });

  test("accepts AWS's own 413", async () => {
    service.fault = whenStatus(413, {
      headers: { "Content-Type": "text/html" },
      body: "Too large",
    });
    expect(await findings()).toEqual([]);
  });

  test.each<[string, Fault]>([
    [
      "with another status",
      ({ key = "" }, right) => ({ ...right, status: 418, body: `Bearer ${key}` }),
    ],
    [
      "as a field",
      ({ key = "" }, right) => ({
        ...right,
        body: String(right.body).replace("{", `{"${key}":1,`),
      }),
    ],
  ])("never repeats a key that the service echoes %s", async (_, fault) => {
    service.fault = fault;
    expect((await findings()).join()).toMatch(/^(?!.*pets_test_\w).*pets_test_\.\.\..*$/);
  });

  test("hangs up on a plain list after a million characters", async () => {
    const hungUp = Promise.withResolvers<void>();
    async function* endless() {
      try {
        yield Buffer.from('[{"id":1}');
        for (let id = 2; ; id += 1) yield Buffer.from(`,{"id":${id}${" ".repeat(100_000)}}`);
      } finally {
        hungUp.resolve();
      }
    }
    service.fault = when(isPlainList, { body: endless() });
    expect(await findings()).toEqual([]);
    await hungUp.promise;
  });

  test.each([
    ["warns of a list that is cut off after 15 minutes", 900_000, "warning"],
    ["fails for a list that is cut off before 15 minutes", 899_999, "FAIL"],
  ])("%s", async (_, milliseconds, kind) => {
    let time = 0;
    const clock = { ...systemClock, now: () => (time += milliseconds) };
    service.fault = whenStatus(200, { body: '[{"id":1}' });
    const lines = await Array.fromAsync(smoke(service, clock));
    expect(lines.filter((line) => line.kind !== "pass").map((line) => line.kind)).toEqual([
      kind,
      "FAIL",
    ]);
  });

  test("cancels no order that exists", async () => {
    const requests = recorded();
    await findings();
    expect(requests.map(({ path }) => path)).not.toContain(`/store/orders/${pendingOrder}`);
  });

  test("tries every operation without a key", async () => {
    const requests = recorded();
    await findings();
    const keyless = requests.filter(
      ({ path, headers }) => path.startsWith("/store") && !("authorization" in headers),
    );
    expect(keyless.map(({ method }) => method)).toEqual(expect.arrayContaining(["GET", "DELETE"]));
  });

  test("does not follow a redirect", async () => {
    const requests = recorded(({ method, path }, right) =>
      method === "DELETE"
        ? { ...right, status: 307, headers: { Location: `/v1${path}/moved` } }
        : right,
    );
    expect((await findings()).join()).toContain("status 307 instead of 404");
    expect(requests.filter(({ path }) => path.endsWith("/moved"))).toEqual([]);
  });

  describe.each(["pets_test", "pets_live"] as const)("with a key %s_...", (prefix) => {
    let apiKey: string;
    beforeEach(() => {
      do apiKey = makeApiKey(prefix);
      while (!apiKey.endsWith("0"));
    });

    // The gateway rejects the keys of other environments by itself.
    test("sends a key of the same environment that was never issued", async () => {
      const [key = ""] = await keysOf("never issued", apiKey);
      expect(key.slice(0, prefix.length + 1)).toBe(`${prefix}_`);
      expect(isApiKey(key)).toBe(true);
      expect(key).not.toBe(apiKey);
    });

    test("sends malformed keys that are almost the real one", async () => {
      const mistyped = `${apiKey.slice(0, -1)}1`;
      const malformed = ["no-key", mistyped, `${apiKey}0`, "bm86a2V5"];
      expect(await keysOf("malformed key", apiKey)).toEqual(malformed);
    });
  });

  /** The ids that the check for an order that does not exist cancels. */
  async function cancelledIds(): Promise<bigint[]> {
    const requests = recorded();
    const name = "404 order_not_found for cancelling an order that does not exist";
    for (let count = 0; count < 20; count += 1) await smokeChecks()[name]?.(service, systemClock);
    return requests.map(({ path }) => BigInt(path.replace("/store/orders/", "")));
  }

  test("cancels a different id each time", async () => {
    expect(new Set(await cancelledIds()).size).toBe(20);
  });

  test("cancels only negative int64 ids, which no order has", async () => {
    const ids = await cancelledIds();
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.filter((id) => id >= 0n || id < -(2n ** 63n))).toEqual([]);
  });
});
