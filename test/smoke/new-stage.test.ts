import { beforeEach, describe, expect, test } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import type { Line } from "../../infra/smoke/report.ts";
import { smoke } from "../../infra/smoke/smoke.ts";
import type { Clock } from "../../shared/clock.ts";
import { errorBody } from "../../shared/errors.ts";
import { list, without } from "../helpers/smoke/faults.ts";
import { type Fault, startTinyService } from "../helpers/smoke/tiny-service.ts";

let service: Awaited<ReturnType<typeof startTinyService>>;
beforeEach(async () => {
  service = await startTinyService();
  return () => service.stop();
});

const smokeTest = (waitSeconds: number, clock: Clock): Promise<Line[]> =>
  Array.fromAsync(smoke({ ...service, waitSeconds }, clock));

describe("a new stage", () => {
  /** A clock that only waiting moves, and the service's fault until it reaches `readyAt`. */
  function stage(fault: Fault, readyAt = Number.POSITIVE_INFINITY): Clock {
    let now = 1_000_000;
    const begun = now;
    service.fault = (request, right) => (now - begun < readyAt ? fault(request, right) : right);
    return {
      now: () => now,
      pause: async (milliseconds) => {
        now += milliseconds;
      },
    };
  }
  const everything: Fault = (_request, right) => ({ ...right, status: 500, body: "" });
  const operation = (method: string, change: { status: number; body: string }): Fault => {
    return (request, right) =>
      request.method === method && [200, 404].includes(right.status) ? { ...right, ...change } : right;
  };
  const forbidden = { status: 403, body: '{"message":"Forbidden"}' };
  const noRoute = { status: 404, body: errorBody("resource_not_found") };

  test.each([
    ["fails at everything", everything],
    ["may not call the list's function", operation("GET", { status: 500, body: "" })],
    ["may not call the cancellation's function", operation("DELETE", forbidden)],
    ["has no route for cancellations", operation("DELETE", noRoute)],
    ["has no route for the list", operation("GET", noRoute)],
  ])("gets time, once announced, while it %s", async (_symptom, fault) => {
    const clock = stage(fault, 40_000);
    const seen = await smokeTest(120, clock);
    expect(seen.filter(({ kind }) => kind === "waiting")).toHaveLength(1);
    expect(seen.filter(({ kind }) => kind === "FAIL")).toEqual([]);
  });

  test("gets time while nothing listens at its address", async () => {
    await service.stop();
    const clock = stage(everything);
    const begun = clock.now();
    const seen = await smokeTest(10, clock);
    expect(seen.filter(({ kind }) => kind === "waiting")).toEqual([
      expect.objectContaining({ text: expect.stringContaining("ECONNREFUSED") }),
    ]);
    expect(clock.now() - begun).toBe(10_000);
  });

  test("is broken when the time is over, for all promises together", async () => {
    const clock = stage(everything);
    const begun = clock.now();
    const seen = await smokeTest(121, clock);
    expect(clock.now() - begun).toBe(121_000);
    expect(seen.map(({ kind }) => kind)).toEqual(["waiting", ...smokeChecks(service).map(() => "FAIL")]);
  });

  test.each([
    ["a list that is wrong", list("[1]")],
    ["a key that is not admitted", operation("GET", { status: 401, body: "" })],
    ["a promise that needs no permission", without("Allow", 405)],
    ["an unknown path", ((request, right) => (request.path === "/nope" ? { ...right, status: 500 } : right)) as Fault],
  ])("gets no time for %s", async (_reason, fault) => {
    const clock = stage(fault);
    const begun = clock.now();
    expect((await smokeTest(120, clock)).map(({ kind }) => kind)).toContain("FAIL");
    expect(clock.now()).toBe(begun);
  });
});
