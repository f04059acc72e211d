import { describe, expect, test } from "vitest";
import { smokeChecks } from "../../infra/smoke/checks.ts";
import { smoke } from "../../infra/smoke/smoke-test.ts";
import { errorBody } from "../../shared/errors.ts";
import { type Fault, whenStatus } from "./faults.ts";
import { tinyServiceForEachTest } from "./tiny-service.ts";

const service = tinyServiceForEachTest();

describe("a new stage", () => {
  /** Runs the smoke test on a service with a fault until `readyAt`. Only pauses move its clock. */
  async function smokeTest(fault: Fault, readyAt = Number.POSITIVE_INFINITY, waitSeconds = 120) {
    let waited = 0;
    service.fault = (request, right) => (waited < readyAt * 1000 ? fault(request, right) : right);
    const clock = {
      now: () => waited,
      pause: async (milliseconds: number) => {
        waited += milliseconds;
      },
    };
    const lines = await Array.fromAsync(smoke({ ...service, waitSeconds }, clock));
    return {
      waited: waited / 1000,
      kinds: lines.map(({ kind }) => kind),
      text: lines.map(({ text }) => text).join(),
    };
  }
  const everything: Fault = (_request, right) => ({ ...right, status: 500, body: "" });
  const operation = (method: string, change: { status: number; body: string }): Fault => {
    return (request, right) =>
      request.method === method && [200, 404].includes(right.status)
        ? { ...right, ...change }
        : right;
  };
  const forbidden = { status: 403, body: '{"message":"Forbidden"}' };
  const noRoute = { status: 404, body: errorBody("resource_not_found") };

  test.each([
    ["fails at everything", everything],
    ["may not call the list's function", operation("GET", { status: 500, body: "" })],
    ["may not call the cancellation's function", operation("DELETE", forbidden)],
    ["has no route for cancellations", operation("DELETE", noRoute)],
  ])("gets time, announced with one line, while it %s", async (_symptom, fault) => {
    const { kinds } = await smokeTest(fault, 40);
    expect(kinds.filter((kind) => kind !== "pass")).toEqual(["waiting"]);
  });

  test("gets time while nothing listens at its address", async () => {
    await service.stop();
    const { waited, text } = await smokeTest(everything, undefined, 10);
    expect(waited).toBe(10);
    expect(text).toMatch(/^up to 10 s for the stage to be ready.*ECONNREFUSED/);
  });

  test("fails every check when the time that they share is over", async () => {
    const { waited, kinds } = await smokeTest(everything, undefined, 121);
    expect(waited).toBe(121);
    expect(kinds).toEqual(["waiting", ...Object.keys(smokeChecks()).map(() => "FAIL")]);
  });

  test.each<[string, Fault]>([
    ["a wrong list", whenStatus(200, { body: "[1]" })],
    ["a list that is cut off", (_request, right) => (right.status === 200 ? "hang up" : right)],
    ["a rejected key", operation("GET", { status: 401, body: "" })],
    [
      "a 500 for an unknown path",
      (request, right) => (request.path === "/nope" ? { ...right, status: 500 } : right),
    ],
  ])("fails at once for %s", async (_reason, fault) => {
    const { waited, kinds } = await smokeTest(fault);
    expect(waited).toBe(0);
    expect(kinds).toContain("FAIL");
  });
});
