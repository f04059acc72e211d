import { describe, expect, test } from "vitest";
import { smoke } from "../../infra/smoke/smoke-test.ts";
import { racingCancellations, thoroughChecks } from "../../infra/smoke/thorough.ts";
import type { Fault, TinyResponse } from "./faults.ts";
import { errorResponse, pendingOrder, tinyServiceForEachTest } from "./tiny-service.ts";

const service = tinyServiceForEachTest();

/** Runs a thorough check, on a clock that only pauses move. @returns its problem, if any. */
async function problemOf(partOfName: string, fault?: Fault): Promise<string | undefined> {
  service.fault = fault;
  let now = 0;
  const pause = async (milliseconds: number) => {
    now += milliseconds;
  };
  const checks = { ...racingCancellations(pendingOrder), ...thoroughChecks(600) };
  const [check] = Object.entries(checks).flatMap(([name, run]) =>
    name.includes(partOfName) ? [run] : [],
  );
  return await check?.(service, { now: () => now, pause }).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

describe("requests beyond the limit", () => {
  /** Turns every third request away. */
  const throttled = (headers: Record<string, string>, other?: TinyResponse): Fault => {
    let sent = 0;
    return (_request, right) =>
      sent++ % 3 === 0 ? errorResponse("too_many_requests", headers) : (other ?? right);
  };

  test("pass when some get 429 and Retry-After", async () => {
    expect(await problemOf("429", throttled({ "Retry-After": "1" }))).toBeUndefined();
  });

  test("fail when nothing limits them", async () => {
    expect(await problemOf("429")).toBe("600 requests, 60 at a time, were all let in");
  });

  test.each<[string, Fault, RegExp]>([
    [
      "the others get a status other than 404",
      throttled({ "Retry-After": "1" }, errorResponse("bad_request")),
      /status 400 instead of 404/,
    ],
    ["Retry-After is missing", throttled({}), /header Retry-After is missing/],
    ["the service fails", () => errorResponse("internal_error"), /status 500 instead of 404/],
  ])("fail when %s", async (_what, fault, expected) => {
    expect(await problemOf("429", fault)).toMatch(expected);
  });
});

describe("a client that reads slowly", () => {
  const chunk = (at: number) => `{"id":${at}},`.padEnd(70_000);
  const sends = (chunks: number, end: string): Fault => {
    return (_request, right) => {
      const body = ["[", ...Array.from({ length: chunks }, (_, at) => chunk(at)), `{}${end}`];
      return right.status === 200 ? { ...right, body } : right;
    };
  };

  test("passes when the list is whole", async () => {
    expect(await problemOf("slowly", sends(60, "]"))).toBeUndefined();
  });

  test.each<[string, Fault, RegExp]>([
    [
      "the list is cut off",
      (_request, right) => (right.status === 200 ? "hang up" : right),
      /the body can't be read to its end/,
    ],
    ["the list has no end", sends(60, ""), /the body is not a JSON array/],
    ["the list is too short to be read slowly", sends(1, "]"), /too few to be read for a minute/],
  ])("fails when %s", async (_what, fault, expected) => {
    expect(await problemOf("slowly", fault)).toMatch(expected);
  });
});

describe("twenty racing cancellations", () => {
  test("pass when one gets 204", async () => {
    expect(await problemOf("racing")).toBeUndefined();
  });

  test.each<[string, Fault, RegExp]>([
    [
      "two get 204",
      (() => {
        let sent = 0;
        return (_request, right) =>
          sent++ === 7
            ? { status: 204, headers: { "Cache-Control": "no-store" }, body: "" }
            : right;
      })(),
      /^2 of 20 got 204$/,
    ],
    [
      "none gets 204",
      () => errorResponse("order_already_cancelled"),
      /was not pending\. Name one that is$/,
    ],
    [
      "one gets another error",
      (_request, right) => (right.status === 204 ? errorResponse("order_already_shipped") : right),
      /code order_already_shipped instead of order_already_cancelled/,
    ],
  ])("fail when %s", async (_what, fault, expected) => {
    expect(await problemOf("racing", fault)).toMatch(expected);
  });
});

test("the smoke test includes the thorough checks only on request", async () => {
  const lines = await Array.fromAsync(smoke(service));
  const names = lines.map(({ text }) => text);
  expect(names).not.toContain(Object.keys(thoroughChecks())[0]);
});
