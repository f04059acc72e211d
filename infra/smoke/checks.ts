import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { makeApiKey } from "../../shared/api-keys.ts";
import type { Clock } from "../../shared/clock.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { type ApiRequest, type Endpoint, open, send } from "./client.ts";
import { documentedRequests, paths } from "./document.ts";
import { excerpt, expectDocumented, expectError, expectStatus } from "./expect-response.ts";
import { expectList } from "./list.ts";

export const list: ApiRequest = { method: "GET", path: "/store/orders" };
export const cancel = (orderId: string): ApiRequest => ({
  method: "DELETE",
  path: `/store/orders/${orderId}`,
});
const unknown: ApiRequest = { method: "POST", path: "/nope" };
const unknownPaths = [
  ...["/nope", "/nope/1", "/store/orders/1/2"].map((path) => ({ method: "GET", path })),
  { method: "POST", path: "/store" },
];
const withoutKey = (request: ApiRequest): ApiRequest => ({ ...request, authorization: null });
const withAuthorization = (authorization: string): ApiRequest[] =>
  documentedRequests.map((request) => ({ ...request, authorization }));
const emptyObject = { headers: { "content-type": "application/json" }, body: "{}" };

/**
 * How many of the checks, from the first, a stage may fail in its first minute. They need every
 * function and permission.
 */
export const readinessChecks = 3;

/**
 * Checks by their promises, which read well after "pass" and "FAIL". A check throws when it fails:
 * NotReady when the stage may not be ready, Warning when there is only something to know.
 */
export type Checks = Record<string, (service: Endpoint, clock: Clock) => Promise<void>>;

/**
 * Everything that a service promises its clients, in the order to check it. What holds for every
 * operation comes from the interface description; an operation adds what only it promises. The
 * whole list is read only once, because that costs a whole Scan.
 *
 * @param pending the id of a pending order, which will be cancelled for good. Without one, no order
 * changes: the ids that are cancelled don't exist.
 * @param cancellation the checks that cancel it.
 */
export function smokeChecks(pending?: string, cancellation = cancelledTwice): Checks {
  return {
    ...readiness(pending),
    ...(pending && cancellation(pending)),
    ...uncompressedList,
    ...keys,
    ...orderIds,
    ...addresses,
    ...bodies,
  };
}

/** Each of the requests must get the documented Error with this code. */
async function expectErrors(service: Endpoint, code: ErrorCode, requests: ApiRequest[]) {
  for (const request of requests) expectError(await send(service, request), code);
}

const readiness = (pending?: string): Checks => ({
  "401 without a key, naming the Bearer scheme": (service) =>
    expectErrors(service, "unauthorized", documentedRequests.map(withoutKey)),
  "404 order_not_found for cancelling an order that does not exist": async (service) => {
    // One of 2^63 negative ids. The chance that one of a million orders has it is one in nine
    // trillion.
    const orderId = -1n - (randomBytes(8).readBigUInt64BE() >> 1n);
    await expectErrors(service, "order_not_found", [cancel(String(orderId))]);
  },
  [`200 and an array of orders for GET /store/orders${pending ? `, ${pending} among them` : ""}`]:
    async (service, clock) => {
      const response = await open(service, list);
      const length = await expectList(response, pending ? { orderId: pending } : {}, clock);
      const compressed = response.headers["content-encoding"] === "gzip";
      assert(compressed || length < 100_000, `a list of ${length} characters is not compressed`);
    },
});

const cancelledTwice = (pending: string): Checks => ({
  [`204 for cancelling order ${pending}, then 409 order_already_cancelled`]: async (service) => {
    const response = await send(service, cancel(pending));
    assert(response.status !== 409, `order ${pending} was not pending. Name one that is`);
    expectStatus(response, 204);
    expectDocumented(response);
    expectError(await send(service, cancel(pending)), "order_already_cancelled");
  },
});

const uncompressedList: Checks = {
  // Not the whole: AWS cuts it off at 200 MB, which is two million orders.
  "the beginning of an uncompressed list for a client that accepts no compression": async (
    service,
  ) => {
    const response = await open(service, { ...list, headers: { "accept-encoding": "identity" } });
    const encoding = response.headers["content-encoding"];
    assert(encoding === undefined, `Content-Encoding is ${excerpt(String(encoding))}`);
    await expectList(response, { enough: 1_000_000 });
  },
};

const keys: Checks = {
  "401 for a malformed key or another scheme": async (service) => {
    const { apiKey } = service;
    const mistyped = apiKey.slice(0, -1) + (apiKey.endsWith("0") ? "1" : "0");
    const authorizations = [
      "Bearer no-key",
      `Bearer ${mistyped}`,
      `Bearer ${apiKey}0`,
      "Basic bm86a2V5",
    ];
    await expectErrors(service, "unauthorized", authorizations.flatMap(withAuthorization));
  },
  "401 for a key that was never issued, however often it is sent": async (service) => {
    const prefix = service.apiKey.replace(/_[^_]+$/, "");
    const requests = withAuthorization(`Bearer ${makeApiKey(prefix)}`);
    await expectErrors(service, "unauthorized", [...requests, ...requests]);
  },
  "the Bearer scheme in any case": async (service) => {
    const authorization = `bEARER ${service.apiKey}`;
    await expectErrors(service, "order_not_found", [{ ...cancel("none"), authorization }]);
  },
};

const orderIds: Checks = Object.fromEntries(
  ["abc", "007", "1.0", "9223372036854775808"].map((orderId) => [
    `404 order_not_found for cancelling ${orderId}, which is not a canonical 64-bit integer`,
    (service) => expectErrors(service, "order_not_found", [cancel(orderId)]),
  ]),
);

const addresses: Checks = {
  "404 resource_not_found for an unknown path, with and without a key": async (service) => {
    const requests = [...unknownPaths, ...unknownPaths.map(withoutKey)];
    await expectErrors(service, "resource_not_found", requests);
  },
  "405 and Allow for another method on a known path": async (service) => {
    for (const { path, methods, otherMethods } of paths) {
      const allowed = methods.join(", ");
      for (const method of otherMethods) {
        await expectMethodRejected(service, { method, path }, allowed);
        await expectMethodRejected(service, { method, path, ...emptyObject }, allowed);
      }
    }
  },
};

async function expectMethodRejected(service: Endpoint, request: ApiRequest, allowed: string) {
  const response = await send(service, request);
  expectError(response, "method_not_allowed");
  const { allow = "" } = response.headers;
  const sorted = allow.split(", ").sort().join(", ");
  assert(sorted === allowed, `header Allow is ${excerpt(allow)} instead of "${allowed}"`);
}

const bodies: Checks = {
  "a cancellation that ignores its body": (service) =>
    expectErrors(service, "order_not_found", [{ ...cancel("none"), ...emptyObject }]),
  "415 for an unexpected content type": async (service) => {
    const image = { headers: { "content-type": "image/png" }, body: "{}" };
    await expectErrors(service, "unsupported_media_type", [{ ...unknown, ...image }]);
  },
  "413 for a body of more than 10 MB, from the gateway or from AWS before it": async (service) => {
    const body = "x".repeat(10 * 1024 * 1024 + 1);
    const response = await send(service, { ...unknown, ...emptyObject, body });
    expectStatus(response, 413);
    if (/json/.test(String(response.headers["content-type"])))
      expectError(response, "request_too_large");
  },
};
