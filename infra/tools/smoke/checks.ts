import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { makeApiKey } from "../../../shared/api-keys.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { ErrorCode } from "../../../shared/errors.ts";
import { type ApiRequest, type Endpoint, open, send, Warning } from "./client.ts";
import {
  documentedRequests,
  excerpt,
  expectDocumented,
  expectError,
  expectStatus,
  paths,
} from "./document.ts";
import { expectList } from "./list.ts";

export const list: ApiRequest = { method: "GET", path: "/store/orders" };
const uncompressed = { ...list, headers: { "accept-encoding": "identity" } };
const cancel = (orderId: string): ApiRequest => ({
  method: "DELETE",
  path: `/store/orders/${orderId}`,
});
const unknown: ApiRequest = { method: "POST", path: "/nope" };
const emptyObject = { headers: { "content-type": "application/json" }, body: "{}" };
const withoutKey = (request: ApiRequest): ApiRequest => ({
  ...request,
  authorization: null,
});
const withAuthorization = (authorization: string): ApiRequest[] =>
  documentedRequests.map((request) => ({ ...request, authorization }));

/**
 * How many of the checks, from the first, a stage may fail in its first minute. They need every
 * function and permission.
 */
export const readinessChecks = 3;

/**
 * A check throws when it fails: NotReady when the stage may not be ready, Warning when there is only
 * something to know.
 */
type Check = (service: Endpoint, clock: Clock) => Promise<void>;

/** Checks by their promises, which read well after "pass" and "FAIL". */
type Checks = Record<string, Check>;

/**
 * Everything that a service promises its clients, in the order to check it. What holds for every
 * operation comes from the interface description; an operation adds what only it promises. Unless
 * `isThorough`, the whole list is read only once, because that costs a whole Scan.
 *
 * @param pending the id of a pending order, which will be cancelled for good. Without one, no order
 * changes: the ids that are cancelled don't exist.
 * @param isThorough cancels the pending order twenty times at once, and adds the checks that take
 * minutes and thousands of requests. Meanwhile, other clients may get 429.
 * @param mostRequests how many of those to send, at most, until one gets 429.
 */
export function smokeChecks(
  pending?: string,
  isThorough = false,
  mostRequests = 10_000,
): Checks {
  return {
    ...readiness(pending),
    ...(pending && cancellations(pending, isThorough ? 20 : 2)),
    ...unchanging,
    ...(isThorough && thorough(mostRequests)),
  };
}

/** A check that each of the requests gets the documented Error with this code. */
function rejects(code: ErrorCode, requests: (service: Endpoint) => ApiRequest[]): Check {
  return async (service) => {
    for (const request of requests(service))
      expectError(await send(service, request), code);
  };
}

const readiness = (pending?: string): Checks => ({
  "401 without a key, naming the Bearer scheme": rejects("unauthorized", () =>
    documentedRequests.map(withoutKey),
  ),
  "404 order_not_found for cancelling an order that does not exist": rejects(
    "order_not_found",
    // One of 2^63 negative ids. The chance that one of a million orders has it is one in nine
    // trillion.
    () => [cancel(`${-1n - (randomBytes(8).readBigUInt64BE() >> 1n)}`)],
  ),
  "200 and an array of orders for GET /store/orders": async (service, clock) => {
    const response = await open(service, list);
    const { length, ids } = await expectList(response, clock);
    assert(!pending || ids.has(BigInt(pending)), `order ${pending} is not listed`);
    const isCompressed = response.headers["content-encoding"] === "gzip";
    assert(
      isCompressed || length < 100_000,
      `a list of ${length} characters is not compressed`,
    );
  },
});

/** Clients that cancel a pending order at once. */
const cancellations = (pending: string, clients: number): Checks => ({
  [`204 for exactly one of ${clients} cancellations of order ${pending}, 409 for the rest`]:
    async (service) => {
      const sent = Array.from({ length: clients }, () => send(service, cancel(pending)));
      const responses = await Promise.all(sent);
      const winner = responses.find(({ status }) => status !== 409);
      assert(winner, "the order was not pending. Name one that is");
      expectStatus(winner, 204);
      expectDocumented(winner);
      for (const response of responses)
        if (response !== winner) expectError(response, "order_already_cancelled");
    },
});

const unchanging: Checks = {
  // Only the beginning: a whole list is cut off at 199 MB, which is two million orders.
  "the beginning of an uncompressed list for a client that accepts no compression":
    async (service, clock) => {
      const response = await open(service, uncompressed);
      assert(!response.headers["content-encoding"], "the list is compressed");
      await expectList(response, clock, 1_000_000);
    },
  "401 for a malformed key or another scheme": rejects("unauthorized", ({ apiKey }) => {
    const mistyped = apiKey.slice(0, -1) + (apiKey.endsWith("0") ? "1" : "0");
    const keys = ["no-key", mistyped, `${apiKey}0`].map((key) => `Bearer ${key}`);
    return [...keys, "Basic bm86a2V5"].flatMap(withAuthorization);
  }),
  "401 for a key that was never issued, however often it is sent": rejects(
    "unauthorized",
    ({ apiKey }) => {
      const unissued = `Bearer ${makeApiKey(apiKey.replace(/_[^_]+$/, ""))}`;
      return [unissued, unissued].flatMap(withAuthorization);
    },
  ),
  "the Bearer scheme in any case, before two spaces": rejects(
    "order_not_found",
    ({ apiKey }) => [{ ...cancel("none"), authorization: `bEARER  ${apiKey}` }],
  ),
  "404 order_not_found for ids that are not canonical 64-bit integers": rejects(
    "order_not_found",
    () => ["abc", "007", "1.0", "9223372036854775808"].map(cancel),
  ),
  "404 resource_not_found for an unknown path, with and without a key": rejects(
    "resource_not_found",
    () => {
      const paths = ["/nope", "/nope/1", "/store/orders/1/2", "/store"];
      const requests = paths.map((path) => ({ method: "GET", path }));
      return [...requests, ...requests.map(withoutKey)];
    },
  ),
  "405 and Allow for another method on a known path": async (service) => {
    for (const { path, methods, otherMethods } of paths)
      for (const method of otherMethods)
        for (const body of [{}, emptyObject]) {
          const response = await send(service, { method, path, ...body });
          expectError(response, "method_not_allowed");
          const allowed = `${response.headers.allow}`.split(", ").sort();
          const seen = `${path} allows ${excerpt(allowed)} instead of ${excerpt(methods)}`;
          assert.deepEqual(allowed, methods, seen);
        }
  },
  "a cancellation that ignores its body": rejects("order_not_found", () => [
    { ...cancel("none"), ...emptyObject },
  ]),
  "415 for an unexpected content type": rejects("unsupported_media_type", () => [
    { ...unknown, headers: { "content-type": "image/png" }, body: "{}" },
  ]),
  "413 for a body of more than 10 MB, from the gateway or from AWS before it": async (
    service,
  ) => {
    const body = Buffer.alloc(10 * 1024 * 1024 + 1, "x");
    const response = await send(service, { ...unknown, ...emptyObject, body });
    expectStatus(response, 413);
    if (/json/.test(String(response.headers["content-type"])))
      expectError(response, "request_too_large");
  },
};

/** A problem on AWS, and only a warning on this machine. */
const onAws = (problem: string, isLocal = false) =>
  isLocal ? new Warning(`not checked on this machine: ${problem}`) : problem;

/** Enough at a time to exceed an operation's throttling limit. */
const floodAtOnce = 60;

const thorough = (mostRequests: number): Checks => ({
  "the whole list for a client that reads slowly for a minute": async (
    service,
    clock,
  ) => {
    const { text, ...response } = await open(service, uncompressed);
    const minuteEnd = clock.now() + 60_000;
    async function* readSlowly(): AsyncGenerator<string> {
      for await (const chunk of text) {
        if (clock.now() < minuteEnd) await clock.pause(3000);
        yield chunk;
      }
    }
    const { length } = await expectList({ ...response, text: readSlowly() }, clock);
    const problem = `${length} characters are too few to be read for a minute`;
    assert(clock.now() >= minuteEnd, onAws(problem, service.isLocal));
  },
  "429 and Retry-After for too many requests, the documented Error for the others":
    async (service) => {
      let sent = 0;
      let isThrottled = false;
      const sendInTurn = async () => {
        while (!isThrottled && sent++ < mostRequests) {
          const response = await send(service, cancel("none"));
          const isRejected = response.status === 429;
          expectError(response, isRejected ? "too_many_requests" : "order_not_found");
          isThrottled ||= isRejected;
        }
      };
      await Promise.all(Array.from({ length: floodAtOnce }, sendInTurn));
      const problem = `${mostRequests} requests, ${floodAtOnce} at a time, were all let in`;
      assert(isThrottled, onAws(problem, service.isLocal));
    },
});
