import { type Agent, request } from "node:http";
import { pipeline } from "node:stream";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import type { HttpResponse } from "../../infra/smoke/client.ts";

export interface RequestOptions {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer | undefined;
  /** What the request line names, if not the URL's path. */
  target?: string;
  /** Keeps connections; without one, each request has its own. */
  agent?: Agent | false;
}

/** Sends an HTTP request to exactly this URL: its path is not normalised. */
export async function send(
  url: string,
  { method = "GET", headers = {}, body, target, agent = false }: RequestOptions = {},
): Promise<HttpResponse> {
  const { origin, host } = new URL(url);
  const received = Promise.withResolvers<HttpResponse>();
  // Without a length, which Node.js doesn't add to a DELETE, a body is malformed HTTP.
  const length =
    body === undefined || headers["transfer-encoding"]
      ? {}
      : { "content-length": Buffer.byteLength(body) };
  const sent = request(origin, {
    method,
    path: target ?? url.slice(origin.length),
    headers: { host, ...length, ...headers },
    agent,
    timeout: 60_000,
  });
  sent.on("timeout", () =>
    sent.destroy(new Error(`No data for 60 seconds: ${method} ${url}`)),
  );
  sent.on("error", received.reject);
  sent.on("response", (response) => {
    // A response to HEAD has the encoding, but no body.
    const gzip = response.headers["content-encoding"] === "gzip" && method !== "HEAD";
    text(gzip ? pipeline(response, createGunzip(), () => {}) : response).then(
      (content) =>
        received.resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: content,
        }),
      received.reject,
    );
  });
  sent.end(body);
  return received.promise;
}
