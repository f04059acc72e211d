import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { beforeEach } from "vitest";
import { listen } from "../../../infra/tools/local/machine/ports.ts";
import { paths } from "../../../infra/tools/smoke/document.ts";
import { makeApiKey } from "../../../shared/api-keys.ts";
import { type ErrorCode, errorBody, errors } from "../../../shared/errors.ts";

export interface TinyResponse {
  status: number;
  headers: Record<string, string>;
  /** Its chunks are sent as the client reads them. */
  body: string | Iterable<string> | AsyncIterable<string>;
}

export type TinyRequest = Awaited<ReturnType<typeof read>>;

/** Makes the response of a broken service from the right one. */
export type Fault = (request: TinyRequest, right: TinyResponse) => TinyResponse;

export const pendingOrder = "9223372036854775807";
const orders = `[{"id":${pendingOrder},"petId":1,"quantity":2,"shipDate":"2026-12-01T09:00:00Z","complete":false},{}]`;
const json = { "Content-Type": "application/json", "Cache-Control": "no-store" };

/** A service that keeps every promise, and breaks one while it has a fault. Each test gets a new one. */
export function tinyServiceForEachTest() {
  const fault: Fault = (_request, right) => right;
  const service = { baseUrl: "", apiKey: "", fault, stop: async () => {} };
  beforeEach(async () => {
    const apiKey = makeApiKey("pets_test");
    const cancelled = new Set<string>();
    const { port, close } = await listen(0, async (incoming, outgoing) => {
      const request = await read(incoming, apiKey);
      const { status, headers, body } = service.fault(
        request,
        respond(request, cancelled),
      );
      outgoing.writeHead(status, headers);
      if (typeof body === "string") outgoing.end(body);
      // A client that has seen enough hangs up.
      else await pipeline(Readable.from(body), outgoing).catch(() => {});
    });
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    Object.assign(service, { baseUrl, apiKey, fault, stop: close });
    return close;
  });
  return service;
}

async function read(incoming: IncomingMessage, apiKey: string) {
  const { method = "", url = "", headers } = incoming;
  const { authorization: sent = "keyless" } = headers;
  const authorization = sent
    .replace(apiKey, "KEY")
    .replace(apiKey.slice(0, -1), "MISTYPED");
  const path = url.replace(/^\/v1/, "");
  let size = 0;
  let body = "";
  for await (const chunk of incoming) {
    // Decoding a body of megabytes would take most of a smoke test's time.
    if (size === 0) body = `${chunk}`;
    size += chunk.length;
  }
  return {
    method,
    path,
    headers,
    /** Its first chunk. */
    body,
    size,
    /** The Authorization header without its scheme. */
    key: sent.split(" ")[1],
    /** The Authorization header, with KEY for the admitted key; `keyless` without one. */
    authorization,
  };
}

/** The right response, of the gateway or else of an operation. */
function respond(request: TinyRequest, cancelled: Set<string>): TinyResponse {
  const { method, path, headers, size, authorization } = request;
  const [, orderId] = /^\/store\/orders\/([^/]+)$/.exec(path) ?? [];
  const known = paths.find(
    (candidate) => candidate.path === path.replace(orderId ?? "none", "none"),
  );
  // As the rules of AWS WAF do.
  if (!headers["user-agent"]) return { status: 403, headers: json, body: "{}" };
  if (size > 10 * 1024 * 1024) return errorResponse("request_too_large");
  if (headers["content-type"] === "image/png")
    return errorResponse("unsupported_media_type");
  if (known === undefined) return errorResponse("resource_not_found");
  if (!known.methods.includes(method))
    return errorResponse("method_not_allowed", { Allow: known.methods.join(", ") });
  if (!/^bearer +KEY$/i.test(authorization))
    return errorResponse("unauthorized", { "WWW-Authenticate": "Bearer" });
  if (orderId === undefined)
    return { status: 200, headers: { ...json, Vary: "Accept-Encoding" }, body: orders };
  if (orderId !== pendingOrder) return errorResponse("order_not_found");
  if (cancelled.has(orderId)) return errorResponse("order_already_cancelled");
  cancelled.add(orderId);
  return { status: 204, headers: { "Cache-Control": "no-store" }, body: "" };
}

export function errorResponse(
  code: ErrorCode,
  headers: Record<string, string> = {},
): TinyResponse {
  return {
    status: errors[code].status,
    headers: { ...json, ...headers },
    body: errorBody(code),
  };
}

/** An exchange as one line, like `GET /store/orders Bearer KEY gzip {} 200`. */
export function lineOf(
  { method, path, authorization, headers, body }: TinyRequest,
  { status }: TinyResponse,
) {
  const encoding = headers["accept-encoding"];
  return [method, path, authorization, encoding, body.slice(0, 2), status].join(" ");
}

/** Changes the responses of the exchanges whose lines have this pattern. */
export const when =
  (pattern: RegExp, change: Partial<TinyResponse>): Fault =>
  (request, right) =>
    pattern.test(lineOf(request, right))
      ? { ...right, ...change, headers: { ...right.headers, ...change.headers } }
      : right;

/** Breaks the connection after the list's first character. */
export const hangUp = when(/ 200$/, {
  body: {
    async *[Symbol.asyncIterator]() {
      yield "[";
      await setImmediate();
      throw new Error("The service hangs up");
    },
  },
});
