import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";
import { isInt64 } from "../../../shared/order.ts";

export interface TinyAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What a broken service answers instead of what a right one would. */
export type Fault = (
  request: { method: string; path: string; key: string | undefined; apiKey: string },
  right: TinyAnswer,
) => TinyAnswer | "hang up";

/** A service that keeps every promise in a few lines, so that each can be broken. */
export interface TinyService {
  baseUrl: string;
  apiKey: string;
  fault: Fault | undefined;
  stop(): Promise<void>;
}

export const pendingOrder = "9223372036854775807";

export async function startTinyService(): Promise<TinyService> {
  const apiKey = makeApiKey("pets_test");
  const cancelled = new Set<string>();
  const right = ({ method = "", url = "", headers }: IncomingMessage): TinyAnswer => {
    const path = url.replace(/^\/v1/, "");
    const orderId = /^\/store\/orders\/([^/]+)$/.exec(path)?.[1];
    if (path !== "/store/orders" && orderId === undefined) return error("resource_not_found");
    const allow = orderId === undefined ? "GET" : "DELETE";
    if (method !== allow) return error("method_not_allowed", { Allow: allow });
    const [scheme = "", key] = headers.authorization?.split(" ") ?? [];
    if (scheme.toLowerCase() !== "bearer" || key !== apiKey) {
      return error("unauthorized", { "WWW-Authenticate": "Bearer" });
    }
    const noStore = { "Cache-Control": "no-store" };
    if (orderId === undefined) {
      const body = `[{"id":${pendingOrder},"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false},{}]`;
      return { status: 200, headers: { ...noStore, "Content-Type": "application/json" }, body };
    }
    if (!isInt64(orderId) || orderId !== pendingOrder) return error("order_not_found");
    if (cancelled.has(orderId)) return error("order_already_cancelled");
    cancelled.add(orderId);
    return { status: 204, headers: noStore, body: "" };
  };
  const server = createServer(async (request, response) => {
    await buffer(request);
    const path = request.url?.replace(/^\/v1/, "") ?? "";
    const key = request.headers.authorization?.split(" ")[1];
    const answer = right(request);
    const given = service.fault?.({ method: request.method ?? "", path, key, apiKey }, answer) ?? answer;
    if (given === "hang up") {
      response.writeHead(200, { "Content-Type": "application/json" }).write("[");
      setImmediate(() => response.destroy());
      return;
    }
    // Whatever a broken service sends with a 204, it is on the wire.
    response.writeHead(given.status, given.headers).end(given.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  const service: TinyService = {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    apiKey,
    fault: undefined,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}

function error(code: ErrorCode, headers: Record<string, string> = {}): TinyAnswer {
  return {
    status: errors[code].status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
    body: errorBody(code),
  };
}
