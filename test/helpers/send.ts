import { once } from "node:events";
import { type Agent, type IncomingMessage, request } from "node:http";
import { pipeline } from "node:stream";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";

export interface RequestOptions {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer | undefined;
  /** The target in the request line, if not the URL's path. */
  target?: string;
  /** Keeps connections; without one, each request has its own. */
  agent?: Agent | false;
}

/** Sends an HTTP request to exactly this URL: its path is not normalised. */
export async function send(
  url: string,
  { method = "GET", headers = {}, body, target, agent = false }: RequestOptions = {},
) {
  const { origin, host } = new URL(url);
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
    signal: AbortSignal.timeout(60_000),
  });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  // A gateway may respond before it has received all.
  sent.on("error", () => {});
  // A response to HEAD has the encoding, but no body.
  const gzip = response.headers["content-encoding"] === "gzip" && method !== "HEAD";
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await text(gzip ? pipeline(response, createGunzip(), () => {}) : response),
  };
}
