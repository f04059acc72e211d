import { createServer } from "node:http";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { open } from "../../infra/smoke/client.ts";
import type { Line } from "../../infra/smoke/report.ts";
import { smoke } from "../../infra/smoke/smoke.ts";
import { faults, list, without } from "../helpers/smoke/faults.ts";
import { type Fault, pendingOrder, startTinyService, type TinyRequest } from "../helpers/smoke/tiny-service.ts";

let service: Awaited<ReturnType<typeof startTinyService>>;
beforeEach(async () => {
  service = await startTinyService();
  return () => service.stop();
});

const lines = (options: { cancel?: string } = {}): Promise<Line[]> =>
  Array.fromAsync(smoke({ ...service, ...options }));
const broken = async (options: { cancel?: string } = {}) =>
  (await lines(options)).filter((line) => line.kind === "FAIL").map(({ text }) => text);

/** Keeps the requests of a smoke test, and sends the right responses or those of a fault. */
function recorded(fault: Fault = (_request, right) => right): TinyRequest[] {
  const requests: TinyRequest[] = [];
  service.fault = (request, right) => {
    requests.push(request);
    return fault(request, right);
  };
  return requests;
}

describe("the smoke test", () => {
  test("finds nothing broken in a service that keeps every promise", async () => {
    expect(await broken({ cancel: pendingOrder })).toEqual([]);
  });

  test.each(faults)("says what is broken: %s: %s", async (start, seen, fault) => {
    service.fault = fault;
    const promised = smokeChecks(service, pendingOrder).filter(({ name }) => name.startsWith(start));
    expect(promised).toHaveLength(1);
    const problem = await promised[0]?.run().catch((error: Error) => error.message);
    expect(problem).toContain(seen);
    expect(problem).not.toContain(service.apiKey);
  });

  test("takes AWS's own response to a body that is too large", async () => {
    service.fault = (_request, right) =>
      right.status === 413 ? { status: 413, headers: { "Content-Type": "text/html" }, body: "Too large" } : right;
    expect(await broken()).toEqual([]);
  });

  test("names every promise that is broken, and only those", async () => {
    service.fault = without("Allow", 405);
    expect(await broken({ cancel: pendingOrder })).toEqual([
      "405 and Allow for another method on a known path: header Allow is missing",
    ]);
  });

  test("has been seen to fail on every check there is", () => {
    const names = smokeChecks(service, pendingOrder).map(({ name }) => name);
    expect(names.filter((name) => !faults.some(([start]) => name.startsWith(start)))).toEqual([]);
  });

  test.each<[string, Fault]>([
    ["with another status", ({ key = "" }, right) => ({ ...right, status: 418, body: `Bearer ${key}` })],
    ["as a field", ({ key = "" }, right) => ({ ...right, body: String(right.body).replace("{", `{"${key}":1,`) })],
  ])("never repeats a key that the service echoes %s", async (_, fault) => {
    service.fault = fault;
    expect((await broken()).join()).toMatch(/^(?!.*pets_test_\w).*pets_test_\.\.\..*$/);
  });

  test("lists twice, also when it cancels an order", async () => {
    for (const options of [{}, { cancel: pendingOrder }]) {
      const requests = recorded();
      await lines(options);
      const lists = requests.filter(
        ({ method, path, key }) => `${method} ${path}` === "GET /store/orders" && key === service.apiKey,
      );
      expect(lists.map(({ headers }) => headers["accept-encoding"])).toEqual(["gzip", "identity"]);
    }
  });

  test("judges a list while it arrives", async () => {
    let sent = 0;
    service.fault = list(
      (function* () {
        yield '[{"id":"1"},';
        for (;;) yield `{"id":${sent++}},`.repeat(10_000);
      })(),
    );
    expect((await broken()).join()).toContain("body/0/id must be integer");
    // At most what fits the buffers on the way.
    expect(sent).toBeLessThan(100);
  });

  test("does not follow a redirect, which no client needs to", async () => {
    const requests = recorded(({ method, path }, right) =>
      method === "DELETE" ? { ...right, status: 307, headers: { Location: `/v1${path}/moved` } } : right,
    );
    expect((await broken()).join()).toContain("status 307 instead of 404");
    expect(requests.filter(({ path }) => path.endsWith("/moved"))).toEqual([]);
  });

  test("sends no Authorization header at all to each operation", async () => {
    const requests = recorded();
    await lines();
    const without = requests.filter(({ path, headers }) => path.startsWith("/store") && !("authorization" in headers));
    expect(without.map(({ method }) => method)).toEqual(expect.arrayContaining(["GET", "DELETE"]));
  });

  test("sends no body without its length", async () => {
    const requests = recorded();
    await lines();
    const bodies = requests.filter(({ body }) => body !== "");
    expect(bodies).not.toEqual([]);
    for (const { headers, body } of bodies) expect(headers["content-length"]).toBe(String(body.length));
  });
});

test("a list may go on for longer than 30 seconds once it has begun", async () => {
  const later = Promise.withResolvers<void>();
  service.fault = list(
    (async function* () {
      yield Buffer.from("[");
      await later.promise;
      yield Buffer.from("]");
    })(),
  );
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { text } = await open(service, { method: "GET", path: "/store/orders" });
  await vi.advanceTimersByTimeAsync(60_000);
  later.resolve();
  expect((await Array.fromAsync(text)).join("")).toBe("[]");
});

test("a server that is silent for 30 seconds breaks a promise", async () => {
  const connected = Promise.withResolvers<void>();
  const server = createServer(() => connected.resolve());
  const baseUrl = `http://127.0.0.1:${await listeningPort(server)}/v1`;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => {
    vi.useRealTimers();
    server.close();
    server.closeAllConnections();
  });
  const checking = smoke({ baseUrl, apiKey: service.apiKey });
  const seen = vi.fn();
  const line = checking.next().finally(seen);
  await connected.promise;
  await vi.advanceTimersByTimeAsync(29_999);
  expect(seen).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await line).toMatchObject({ value: { kind: "FAIL", text: expect.stringContaining("silent for 30 s") } });
});
