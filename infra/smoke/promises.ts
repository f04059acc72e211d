import { randomBytes } from "node:crypto";
import { makeApiKey } from "../../shared/api-keys.ts";
import { check, checkDocumented, checkError, checkStatus, excerpt } from "./check.ts";
import type { Client, RequestOptions, Response } from "./client.ts";
import { checkList } from "./list.ts";

/** Something that the service promises its clients. */
export interface Promised {
  /** Reads well after "kept" and "broken". */
  promise: string;
  /** Whether a stage may not keep it yet in its first minute. Together these need every function and permission. */
  needsReadyStage?: boolean;
  /** @throws Broken, or Error when no response comes. */
  keep(client: Client): Promise<void>;
}

/**
 * Everything a stage promises, in the order to check it. The list is read only twice, because each costs a whole Scan.
 *
 * @param cancel a pending order, which will be cancelled for good. Without one, no order changes: the ids that are
 *   cancelled don't exist.
 */
export function promises(cancel?: string): Promised[] {
  return [
    {
      promise: "401 without a key, naming the Bearer scheme",
      needsReadyStage: true,
      keep: async (client) => {
        for (const [method, path] of operations) checkUnauthorized(await client.send(path, { method, key: null }));
      },
    },
    {
      promise: "404 order_not_found for cancelling an order that does not exist",
      needsReadyStage: true,
      // One of 2^63 negative ids. The chance that one of a million orders has it is one in nine trillion.
      keep: (client) => checkNoOrder(client, String(-1n - (randomBytes(8).readBigUInt64BE() >> 1n))),
    },
    ...(cancel === undefined ? [] : [cancellation(cancel)]),
    {
      promise: `200 and an array of orders for GET /store/orders${cancel === undefined ? "" : `, ${cancel} among them`}`,
      needsReadyStage: true,
      keep: async (client) => {
        const response = await client.open("/store/orders");
        const length = await checkList(response, cancel);
        const compressed = response.headers["content-encoding"] === "gzip";
        check(compressed || length < 100_000, `a list of ${length} characters is not compressed`);
      },
    },
    {
      promise: "an uncompressed list for a client that accepts no compression",
      keep: async (client) => {
        const response = await client.open("/store/orders", { headers: { "accept-encoding": "identity" } });
        const encoding = response.headers["content-encoding"];
        check(encoding === undefined, `Content-Encoding is ${excerpt(String(encoding))}`);
        await checkList(response);
      },
    },
    {
      promise: "401 for a malformed key or another scheme",
      keep: async (client) => {
        const basic = { authorization: "Basic bm86a2V5" };
        for (const key of ["no-key", mistyped(client.apiKey), `${client.apiKey}0`]) {
          checkUnauthorized(await client.send("/store/orders", { key }));
        }
        checkUnauthorized(await client.send("/store/orders", { key: null, headers: basic }));
      },
    },
    {
      promise: "401 for a key that was never issued, however often it is sent",
      keep: async (client) => {
        const key = makeApiKey(client.apiKey.startsWith("pets_live_") ? "pets_live" : "pets_test");
        for (const [method, path] of [...operations, ...operations]) {
          checkUnauthorized(await client.send(path, { method, key }));
        }
      },
    },
    {
      promise: "the Bearer scheme in any case",
      keep: (client) =>
        checkNoOrder(client, "none", { key: null, headers: { authorization: `bEARER ${client.apiKey}` } }),
    },
    ...["abc", "007", "1.0", "9223372036854775808"].map((orderId) => ({
      promise: `404 order_not_found for cancelling ${orderId}, which is not a canonical 64-bit integer`,
      keep: (client: Client) => checkNoOrder(client, orderId),
    })),
    {
      promise: "a cancellation that ignores its body",
      keep: (client) => checkNoOrder(client, "none", { headers: json, body: "{}" }),
    },
    {
      promise: "404 resource_not_found for an unknown path, with and without a key",
      keep: async (client) => {
        for (const key of [client.apiKey, null]) {
          for (const path of ["/nope", "/nope/1", "/store/orders/1/2"]) {
            checkError(await client.send(path, { key }), 404, "resource_not_found");
          }
          checkError(await client.send("/store", { key, method: "POST" }), 404, "resource_not_found");
        }
      },
    },
    {
      promise: "405 and Allow for another method on a known path",
      keep: async (client) => {
        for (const [allow, path] of [
          ["GET", "/store/orders"],
          ["DELETE", "/store/orders/1"],
        ] as const) {
          for (const request of [{ method: "PUT" }, { method: "POST", headers: json, body: "{}" }]) {
            const response = await client.send(path, request);
            checkError(response, 405, "method_not_allowed");
            const seen = response.headers["allow"];
            check(seen === allow, `header Allow is ${excerpt(String(seen))} instead of "${allow}"`);
          }
        }
      },
    },
    {
      promise: "415 for an unexpected content type",
      keep: async (client) => {
        const image = { method: "POST", headers: { "content-type": "image/png" }, body: "{}" };
        checkError(await client.send("/store/orders", image), 415, "unsupported_media_type");
      },
    },
    {
      promise: "413 for a body of more than 10 MB, from the gateway or from AWS before it",
      keep: async (client) => {
        const body = "x".repeat(10 * 1024 * 1024 + 1);
        const response = await client.send("/store/orders", { method: "POST", headers: json, body });
        checkStatus(response, 413);
        if (/json/.test(String(response.headers["content-type"]))) checkError(response, 413, "request_too_large");
      },
    },
  ];
}

function cancellation(orderId: string): Promised {
  const path = `/store/orders/${orderId}`;
  return {
    promise: `204 for cancelling order ${orderId}, then 409 order_already_cancelled`,
    keep: async (client) => {
      const response = await client.send(path, { method: "DELETE" });
      checkStatus(response, 204);
      checkDocumented(response);
      checkError(await client.send(path, { method: "DELETE" }), 409, "order_already_cancelled");
    },
  };
}

/** Both operations, with an order id that names no order. */
const operations = [
  ["GET", "/store/orders"],
  ["DELETE", "/store/orders/none"],
] as const;

const json = { "content-type": "application/json" };

function checkUnauthorized(response: Response): void {
  checkError(response, 401, "unauthorized");
}

async function checkNoOrder(client: Client, orderId: string, request: RequestOptions = {}): Promise<void> {
  checkError(await client.send(`/store/orders/${orderId}`, { ...request, method: "DELETE" }), 404, "order_not_found");
}

/** The key with its last character changed: well-formed but for the checksum. */
function mistyped(apiKey: string): string {
  return apiKey.slice(0, -1) + (apiKey.endsWith("0") ? "1" : "0");
}
