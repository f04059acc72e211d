import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { beforeEach } from "vitest";
import { listen } from "../../infra/local/machine/ports.ts";
import { paths } from "../../infra/smoke/document.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { type ErrorCode, errorBody, errors } from "../../shared/errors.ts";
import type { Fault, TinyRequest, TinyResponse } from "./faults.ts";

export const pendingOrder = "9223372036854775807";

export const listHeaders = {
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  Vary: "Accept-Encoding",
};

const orders = `[{"id":${pendingOrder},"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false},{}]`;

export interface TinyService {
  baseUrl: string;
  apiKey: string;
  /** Breaks a promise as soon as it is set. */
  fault: Fault | undefined;
  stop(): Promise<void>;
}

/** A tiny service that is started anew for each test of the calling file, and stopped after it. */
export function tinyServiceForEachTest(): TinyService {
  const service: TinyService = { baseUrl: "", apiKey: "", fault: undefined, stop: async () => {} };
  beforeEach(async () => {
    await startTinyService(service);
    return () => service.stop();
  });
  return service;
}

/** Starts a service that keeps every promise in a few lines, so that a fault can break each. */
export async function startTinyService(service: Partial<TinyService> = {}): Promise<TinyService> {
  const apiKey = makeApiKey("pets_test");
  const cancelled = new Set<string>();
  const serve = (orderId: string | undefined): TinyResponse => {
    if (orderId === undefined) return { status: 200, headers: listHeaders, body: orders };
    if (orderId !== pendingOrder) return errorResponse("order_not_found");
    if (cancelled.has(orderId)) return errorResponse("order_already_cancelled");
    cancelled.add(orderId);
    return { status: 204, headers: { "Cache-Control": "no-store" }, body: "" };
  };
  const { port, close } = await listen(0, async (incoming, outgoing) => {
    const request = await read(incoming, apiKey);
    const right = rejected(request) ?? serve(orderIdIn(request.path));
    const response = service.fault?.(request, right) ?? right;
    if (response === "hang up") {
      outgoing.writeHead(200, listHeaders).write("[");
      setImmediate(() => outgoing.destroy());
      return;
    }
    outgoing.writeHead(response.status, response.headers);
    if (typeof response.body === "string") outgoing.end(response.body);
    // A client that has seen enough hangs up.
    else await pipeline(Readable.from(response.body), outgoing).catch(() => {});
  });
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return Object.assign(service, { baseUrl, apiKey, fault: undefined, stop: close });
}

function orderIdIn(path: string): string | undefined {
  return /^\/store\/orders\/([^/]+)$/.exec(path)?.[1];
}

/** The gateway's response to a request that it doesn't let in. */
function rejected({ method, path, headers, body, key, apiKey }: TinyRequest) {
  if (body.length > 10 * 1024 * 1024) return errorResponse("request_too_large");
  if (headers["content-type"] === "image/png") return errorResponse("unsupported_media_type");
  const documentedPath = path.replace(orderIdIn(path) ?? "none", "none");
  const known = paths.find((candidate) => candidate.path === documentedPath);
  if (known === undefined) return errorResponse("resource_not_found");
  if (!known.methods.includes(method))
    return errorResponse("method_not_allowed", { Allow: known.methods.join(", ") });
  if (!/^bearer /i.test(headers.authorization ?? "") || key !== apiKey)
    return errorResponse("unauthorized", { "WWW-Authenticate": "Bearer" });
  return undefined;
}

async function read(incoming: IncomingMessage, apiKey: string): Promise<TinyRequest> {
  const { method = "", url = "", headers } = incoming;
  const key = headers.authorization?.split(" ")[1];
  return {
    method,
    path: url.replace(/^\/v1/, ""),
    headers,
    body: await text(incoming),
    key,
    apiKey,
  };
}

/** The documented Error with this code. */
export function errorResponse(code: ErrorCode, headers: Record<string, string> = {}): TinyResponse {
  return {
    status: errors[code].status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
    body: errorBody(code),
  };
}
