import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { paths } from "../../../infra/smoke/document.ts";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";

export interface TinyResponse {
  status: number;
  headers: Record<string, string>;
  /** Chunks are sent as they are asked for. */
  body: string | Iterable<string> | AsyncIterable<Buffer>;
}

export interface TinyRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The Authorization header without its scheme. */
  key: string | undefined;
  /** The one key that is admitted. */
  apiKey: string;
}

/** Makes the response of a broken service from the right one. */
export type Fault = (request: TinyRequest, right: TinyResponse) => TinyResponse | "hang up";

/** A service that keeps every promise in a few lines, so that each can be broken. */
export interface TinyService {
  baseUrl: string;
  apiKey: string;
  fault: Fault | undefined;
  stop(): Promise<void>;
}

export const pendingOrder = "9223372036854775807";

export const listHeaders = {
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  Vary: "Accept-Encoding",
};

const orders = `[{"id":${pendingOrder},"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false},{}]`;

export async function startTinyService(): Promise<TinyService> {
  const apiKey = makeApiKey("pets_test");
  const cancelled = new Set<string>();
  const respond = ({ method, path, headers, body, key }: TinyRequest): TinyResponse => {
    if (body.length > 10 * 1024 * 1024) return error("request_too_large");
    if (headers["content-type"] === "image/png") return error("unsupported_media_type");
    const orderId = /^\/store\/orders\/([^/]+)$/.exec(path)?.[1];
    const known = paths.find((known) => known.path === path.replace(orderId ?? "none", "none"));
    if (known === undefined) return error("resource_not_found");
    if (!known.methods.includes(method)) return error("method_not_allowed", { Allow: known.methods.join(", ") });
    if (!/^bearer /i.test(headers.authorization ?? "") || key !== apiKey) {
      return error("unauthorized", { "WWW-Authenticate": "Bearer" });
    }
    if (orderId === undefined) return { status: 200, headers: listHeaders, body: orders };
    if (orderId !== pendingOrder) return error("order_not_found");
    if (cancelled.has(orderId)) return error("order_already_cancelled");
    cancelled.add(orderId);
    return { status: 204, headers: { "Cache-Control": "no-store" }, body: "" };
  };
  const server = createServer(async (incoming, outgoing) => {
    const request = await read(incoming, apiKey);
    const right = respond(request);
    const response = service.fault?.(request, right) ?? right;
    if (response === "hang up") {
      outgoing.writeHead(200, listHeaders).write("[");
      setImmediate(() => outgoing.destroy());
      return;
    }
    const { status, headers, body } = response;
    outgoing.writeHead(status, headers);
    if (typeof body === "string") outgoing.end(body);
    // A client that has seen enough hangs up.
    else await pipeline(Readable.from(body), outgoing).catch(() => {});
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

async function read(incoming: IncomingMessage, apiKey: string): Promise<TinyRequest> {
  const { method = "", url = "", headers } = incoming;
  const key = headers.authorization?.split(" ")[1];
  return { method, path: url.replace(/^\/v1/, ""), headers, body: await text(incoming), key, apiKey };
}

function error(code: ErrorCode, headers: Record<string, string> = {}): TinyResponse {
  return {
    status: errors[code].status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
    body: errorBody(code),
  };
}
