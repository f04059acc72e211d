import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { apiKeyPrefix, makeApiKey } from "../../shared/api-keys.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { checkDocumented, checkError, checkStatus, excerpt } from "./check.ts";
import { open, type Request, type Service, send } from "./client.ts";
import { checkList } from "./list.ts";

/** Something that a service promises its clients. */
export interface Promised {
  /** Reads well after "kept" and "broken". */
  promise: string;
  /** Whether a stage may not keep it yet in its first minute. Together these need every function and permission. */
  needsReadyStage?: boolean;
  /** @throws AssertionError when it is broken, another Error when no response comes or the stage may not be ready. */
  keep(): Promise<void>;
}

const list: Request = { method: "GET", path: "/store/orders" };
const cancel = (orderId: string): Request => ({ method: "DELETE", path: `/store/orders/${orderId}` });
const operations = [list, cancel("none")];
const unknownPaths = [
  ...["/nope", "/nope/1", "/store/orders/1/2"].map((path) => ({ method: "GET", path })),
  { method: "POST", path: "/store" },
];
const withoutKey = (request: Request): Request => ({ ...request, authorization: null });
const emptyObject = { headers: { "content-type": "application/json" }, body: "{}" };

/**
 * Everything a service promises, in the order to check it. The list is read only twice, because each costs a whole Scan.
 *
 * @param pending the id of a pending order, which will be cancelled for good. Without one, no order changes: the ids that
 *   are cancelled don't exist.
 */
export function promises(service: Service, pending?: string): Promised[] {
  const { apiKey } = service;
  const mistyped = apiKey.slice(0, -1) + (apiKey.endsWith("0") ? "1" : "0");
  const unissued = makeApiKey(apiKeyPrefix(apiKey));
  const rejects = (code: ErrorCode, requests: Request[]) => async () => {
    for (const request of requests) checkError(await send(service, request), code);
  };
  return [
    {
      promise: "401 without a key, naming the Bearer scheme",
      needsReadyStage: true,
      keep: rejects("unauthorized", operations.map(withoutKey)),
    },
    {
      promise: "404 order_not_found for cancelling an order that does not exist",
      needsReadyStage: true,
      // One of 2^63 negative ids. The chance that one of a million orders has it is one in nine trillion.
      keep: rejects("order_not_found", [cancel(String(-1n - (randomBytes(8).readBigUInt64BE() >> 1n)))]),
    },
    ...(pending === undefined ? [] : [pending]).map((orderId) => ({
      promise: `204 for cancelling order ${orderId}, then 409 order_already_cancelled`,
      keep: async () => {
        const response = await send(service, cancel(orderId));
        checkStatus(response, 204);
        checkDocumented(response);
        checkError(await send(service, cancel(orderId)), "order_already_cancelled");
      },
    })),
    {
      promise: `200 and an array of orders for GET /store/orders${pending === undefined ? "" : `, ${pending} among them`}`,
      needsReadyStage: true,
      keep: async () => {
        const response = await open(service, list);
        const length = await checkList(response, pending);
        const compressed = response.headers["content-encoding"] === "gzip";
        assert(compressed || length < 100_000, `a list of ${length} characters is not compressed`);
      },
    },
    {
      promise: "an uncompressed list for a client that accepts no compression",
      keep: async () => {
        const response = await open(service, { ...list, headers: { "accept-encoding": "identity" } });
        const encoding = response.headers["content-encoding"];
        assert(encoding === undefined, `Content-Encoding is ${excerpt(String(encoding))}`);
        await checkList(response);
      },
    },
    {
      promise: "401 for a malformed key or another scheme",
      keep: rejects(
        "unauthorized",
        ["Bearer no-key", `Bearer ${mistyped}`, `Bearer ${apiKey}0`, "Basic bm86a2V5"].map((authorization) => ({
          ...list,
          authorization,
        })),
      ),
    },
    {
      promise: "401 for a key that was never issued, however often it is sent",
      keep: rejects(
        "unauthorized",
        [...operations, ...operations].map((request) => ({ ...request, authorization: `Bearer ${unissued}` })),
      ),
    },
    {
      promise: "the Bearer scheme in any case",
      keep: rejects("order_not_found", [{ ...cancel("none"), authorization: `bEARER ${apiKey}` }]),
    },
    ...["abc", "007", "1.0", "9223372036854775808"].map((orderId) => ({
      promise: `404 order_not_found for cancelling ${orderId}, which is not a canonical 64-bit integer`,
      keep: rejects("order_not_found", [cancel(orderId)]),
    })),
    {
      promise: "a cancellation that ignores its body",
      keep: rejects("order_not_found", [{ ...cancel("none"), ...emptyObject }]),
    },
    {
      promise: "404 resource_not_found for an unknown path, with and without a key",
      keep: rejects("resource_not_found", [...unknownPaths, ...unknownPaths.map(withoutKey)]),
    },
    {
      promise: "405 and Allow for another method on a known path",
      keep: async () => {
        for (const [path, allow] of Object.entries({ "/store/orders": "GET", "/store/orders/none": "DELETE" })) {
          for (const request of [{ method: "PUT" }, { method: "POST", ...emptyObject }]) {
            const response = await send(service, { ...request, path });
            checkError(response, "method_not_allowed");
            const seen = response.headers["allow"];
            assert(seen === allow, `header Allow is ${excerpt(String(seen))} instead of "${allow}"`);
          }
        }
      },
    },
    {
      promise: "415 for an unexpected content type",
      keep: rejects("unsupported_media_type", [
        { method: "POST", path: "/store/orders", headers: { "content-type": "image/png" }, body: "{}" },
      ]),
    },
    {
      promise: "413 for a body of more than 10 MB, from the gateway or from AWS before it",
      keep: async () => {
        const body = "x".repeat(10 * 1024 * 1024 + 1);
        const response = await send(service, { ...emptyObject, method: "POST", path: "/store/orders", body });
        checkStatus(response, 413);
        if (/json/.test(String(response.headers["content-type"]))) checkError(response, "request_too_large");
      },
    },
  ];
}
