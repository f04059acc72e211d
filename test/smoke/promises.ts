import { randomBytes } from "node:crypto";
import { type ApiKeyPrefix, makeApiKey } from "../../shared/api-keys.ts";
import { check, checkError, checkHeader, checkOrders, checkStatus, excerpt } from "./check.ts";
import type { Client } from "./client.ts";

export interface Promised {
  /** What is promised, in words that make sense after "kept" and "broken". */
  promise: string;
  /** @throws Broken, or an Error about the connection. */
  keep(client: Client): Promise<void>;
}

/** What every stage promises. Nothing here changes an order: the ids that are cancelled belong to none. */
export const promises: Promised[] = [
  {
    promise: "401 for a request without a key, naming the Bearer scheme",
    keep: async (client) => {
      for (const [method, path] of operations) checkUnauthorized(await client.send(path, { method, key: null }));
    },
  },
  {
    promise: "401 for a malformed key, and for another scheme",
    keep: async (client) => {
      checkUnauthorized(await client.send("/store/orders", { key: "no-key" }));
      checkUnauthorized(await client.send("/store/orders", { key: mistyped(client.apiKey) }));
      checkUnauthorized(
        await client.send("/store/orders", { key: null, headers: { authorization: "Basic bm86a2V5" } }),
      );
    },
  },
  {
    promise: "401 for a key that nobody issued",
    keep: async (client) => {
      const key = makeApiKey(prefixOf(client.apiKey));
      for (const [method, path] of operations) checkUnauthorized(await client.send(path, { method, key }));
    },
  },
  {
    promise: "200 with a bare array of Orders for GET /store/orders",
    keep: async (client) => {
      const answer = await client.send("/store/orders");
      checkStatus(answer, 200);
      checkHeader(answer, "Content-Type", "application/json");
      checkHeader(answer, "Cache-Control", "no-store");
      checkOrders(answer.body);
    },
  },
  {
    promise: "the list uncompressed for a client that takes no compression",
    keep: async (client) => {
      const answer = await client.send("/store/orders", { headers: { "accept-encoding": "identity" } });
      checkStatus(answer, 200);
      check(
        answer.headers["content-encoding"] === undefined,
        `it is ${excerpt(String(answer.headers["content-encoding"]))}`,
      );
      checkOrders(answer.body);
    },
  },
  {
    promise: "a key's scheme in any case",
    keep: async (client) => {
      const headers = { authorization: `bEARER ${client.apiKey}` };
      checkStatus(await client.send("/store/orders", { key: null, headers }), 200);
    },
  },
  {
    promise: "404 order_not_found for cancelling an order that does not exist",
    keep: async (client) => {
      const { body } = await client.send("/store/orders");
      const orderId = absentOrderId(checkOrders(body));
      checkError(await client.send(`/store/orders/${orderId}`, { method: "DELETE" }), 404, "order_not_found");
    },
  },
  ...["abc", "007", "1.0", "9223372036854775808"].map((orderId) => ({
    promise: `404 order_not_found for cancelling ${orderId}, which is no int64`,
    keep: async (client: Client) => {
      checkError(await client.send(`/store/orders/${orderId}`, { method: "DELETE" }), 404, "order_not_found");
    },
  })),
  {
    promise: "404 resource_not_found for an unknown path, with a key and without",
    keep: async (client) => {
      for (const key of [client.apiKey, null]) {
        checkError(await client.send("/nope", { key }), 404, "resource_not_found");
        checkError(await client.send("/store", { key, method: "POST" }), 404, "resource_not_found");
      }
    },
  },
  {
    promise: "405 with Allow for another method on a known path",
    keep: async (client) => {
      for (const [path, allow] of [
        ["/store/orders", "GET"],
        ["/store/orders/1", "DELETE"],
      ] as const) {
        for (const request of [{ method: "PUT" }, { method: "POST", headers: json, body: "{}" }]) {
          const answer = await client.send(path, request);
          checkError(answer, 405, "method_not_allowed");
          checkHeader(answer, "Allow", allow);
        }
      }
    },
  },
];

/** What cancelling a pending order promises. It is cancelled for good. */
export function cancellation(orderId: string): Promised {
  return {
    promise: `204 without a body for cancelling the order ${orderId}, then 409 order_already_cancelled, and it stays listed`,
    keep: async (client) => {
      const answer = await client.send(`/store/orders/${orderId}`, { method: "DELETE" });
      checkStatus(answer, 204);
      check(answer.received === 0, `the 204 has a body: ${excerpt(answer.body)}`);
      const again = await client.send(`/store/orders/${orderId}`, { method: "DELETE" });
      checkError(again, 409, "order_already_cancelled");
      const { body } = await client.send("/store/orders");
      check(checkOrders(body).has(orderId), "it is not in the list any more");
    },
  };
}

/** The contract's, with an id that is no int64 and so no order's. */
const operations = [
  ["GET", "/store/orders"],
  ["DELETE", "/store/orders/none"],
] as const;

const json = { "content-type": "application/json" };

function checkUnauthorized(answer: Parameters<typeof checkError>[0]): void {
  checkError(answer, 401, "unauthorized");
  checkHeader(answer, "WWW-Authenticate", "Bearer");
}

function prefixOf(apiKey: string): ApiKeyPrefix {
  return apiKey.startsWith("pets_live_") ? "pets_live" : "pets_test";
}

/** The key with its last character changed: of the right form, but for the checksum. */
function mistyped(apiKey: string): string {
  return apiKey.slice(0, -1) + (apiKey.endsWith("0") ? "1" : "0");
}

/** A random id that is not among these, out of numbers that no one hands out. */
function absentOrderId(ids: Set<string>): string {
  for (;;) {
    const id = (-(randomBytes(8).readBigUInt64BE() >> 1n) - 1n).toString();
    if (!ids.has(id)) return id;
  }
}
