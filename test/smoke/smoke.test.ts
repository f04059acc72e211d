import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../infra/local/machine/ports.ts";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { open } from "../../infra/smoke/client.ts";
import { smoke } from "../../infra/smoke/smoke-test.ts";
import { isApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { type Fault, type TinyRequest, whenStatus } from "../helpers/smoke/faults.ts";
import { pendingOrder, tinyServiceForEachTest } from "../helpers/smoke/tiny-service.ts";

const service = tinyServiceForEachTest();

/** Runs the smoke test. @returns the lines that are no pass. */
async function findings(options: { cancel?: string } = {}): Promise<string[]> {
  const lines = await Array.fromAsync(smoke({ ...service, ...options }));
  return lines.filter(({ kind }) => kind !== "pass").map(({ kind, text }) => `${kind} ${text}`);
}

/** Keeps the requests from now on, and sends the right responses or those of a fault. */
function recorded(fault: Fault = (_request, right) => right): TinyRequest[] {
  const requests: TinyRequest[] = [];
  service.fault = (request, right) => {
    requests.push(request);
    return fault(request, right);
  };
  return requests;
}

/** The keys that a check sends. */
async function keysOf(check: string, apiKey: string): Promise<(string | undefined)[]> {
  const requests = recorded();
  const checks = Object.entries(smokeChecks({ ...service, apiKey }));
  await checks.find(([name]) => name.includes(check))?.[1]();
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

  test("takes AWS's own response to a body that is too large", async () => {
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

  test("lists twice: compressed and not", async () => {
    const requests = recorded();
    await findings();
    const admitted = requests.filter(
      ({ method, key }) => method === "GET" && key === service.apiKey,
    );
    const lists = admitted.filter(({ path }) => path === "/store/orders");
    expect(lists.map(({ headers }) => headers["accept-encoding"])).toEqual(["gzip", "identity"]);
  });

  test("cancels no order that exists", async () => {
    const requests = recorded();
    await findings();
    expect(requests.map(({ path }) => path)).not.toContain(`/store/orders/${pendingOrder}`);
  });

  test("lists and cancels without a key, too", async () => {
    const requests = recorded();
    await findings();
    const keyless = requests.filter(
      ({ path, headers }) => path.startsWith("/store") && !("authorization" in headers),
    );
    expect(keyless.map(({ method }) => method)).toEqual(expect.arrayContaining(["GET", "DELETE"]));
  });

  test("does not follow a redirect, which no client needs to", async () => {
    const requests = recorded(({ method, path }, right) =>
      method === "DELETE"
        ? { ...right, status: 307, headers: { Location: `/v1${path}/moved` } }
        : right,
    );
    expect((await findings()).join()).toContain("status 307 instead of 404");
    expect(requests.filter(({ path }) => path.endsWith("/moved"))).toEqual([]);
  });

  // The gateway rejects the keys of other environments by itself.
  test.each(["pets_test", "pets_live"] as const)(
    "makes up keys of the same environment, %s",
    async (prefix) => {
      let apiKey = makeApiKey(prefix);
      while (!apiKey.endsWith("0")) apiKey = makeApiKey(prefix);
      const [key = ""] = await keysOf("never issued", apiKey);
      expect([key.slice(0, prefix.length + 1), isApiKey(key), key === apiKey]).toEqual([
        `${prefix}_`,
        true,
        false,
      ]);
      const mistyped = ["no-key", `${apiKey.slice(0, -1)}1`, `${apiKey}0`, "bm86a2V5"];
      expect(await keysOf("malformed key", apiKey)).toEqual(mistyped);
    },
  );

  test("cancels an id that no order has, each time another one", async () => {
    const requests = recorded();
    for (let count = 0; count < 20; count += 1) {
      await smokeChecks(service)[
        "404 order_not_found for cancelling an order that does not exist"
      ]?.();
    }
    const ids = new Set(requests.map(({ path }) => BigInt(path.replace("/store/orders/", ""))));
    expect(ids.size).toBe(20);
    expect([...ids].filter((id) => id >= 0n || id < -(2n ** 63n))).toEqual([]);
  });
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
