import http, { type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import { pipeline } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { isFailure } from "../terminal/errors.ts";

/** A running service, and a key of its environment. */
export interface Endpoint {
  /** Ends in `/v1`, without a slash after it. */
  baseUrl: string;
  apiKey: string;
  /** Whether it is on this machine, with few orders and no rate limits. */
  isLocal?: boolean;
}

export interface ApiRequest {
  method: string;
  path: string;
  /** Instead of `Bearer` and the service's key; null sends no such header. */
  authorization?: string | null;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** An HTTP response as a client sees it, with the method and path of its request. */
export interface ReceivedResponse extends Pick<ApiRequest, "method" | "path"> {
  status: number;
  /** By lower-case name. */
  headers: IncomingHttpHeaders;
  /** Decompressed. */
  body: string;
}

/**
 * A response whose body is still to be read, in chunks. Reading throws CutOff when the body ends
 * too early. Reading no further hangs up.
 */
export type OpenResponse = Omit<ReceivedResponse, "body"> & {
  text: AsyncGenerator<string>;
};

/** In its first minute, before every route and permission is there, a new stage may do this. */
export class NotReady extends Error {}

/** No response began: nothing listens, or it is silent. */
export class NoResponse extends NotReady {}

/** A body that ended too early. */
export class CutOff extends Error {}

/** Something to know that breaks no promise. */
export class Warning extends Error {}

/**
 * Sends a request and leaves the body of the response to be read, however slowly: while it waits,
 * Node's `fetch` crashes when the server closes the connection.
 *
 * @throws NoResponse when no response begins in 30 seconds.
 */
export async function open(
  { baseUrl, apiKey }: Endpoint,
  { method, path, authorization = `Bearer ${apiKey}`, headers, body = "" }: ApiRequest,
): Promise<OpenResponse> {
  const url = new URL(baseUrl + path);
  const isHttps = url.protocol === "https:";
  const { request } = isHttps ? https : http;
  const sent = request(url, {
    // Plain HTTP must not use the global agent, which may send the key to a proxy.
    ...(!isHttps && { agent: false }),
    method,
    headers: {
      connection: "close",
      // Web ACLs of AWS block requests without it.
      "user-agent": "node",
      "accept-encoding": "gzip",
      ...(body !== "" && { "content-length": Buffer.byteLength(body) }),
      ...(authorization && { authorization }),
      ...headers,
    },
  });
  const timer = setTimeout(() => sent.destroy(new Error("silent for 30 s")), 30_000);
  sent.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // A server may respond before it has read the whole body: what fails then comes too late.
    sent.on("response", resolve).on("error", reject);
  })
    .catch((error: unknown) => {
      throw new NoResponse(`no response from ${baseUrl}: ${reason(error)}`);
    })
    .finally(() => clearTimeout(timer));
  const { statusCode: status = 0 } = response;
  return { method, path, status, headers: response.headers, text: read(response) };
}

async function* read(response: IncomingMessage): AsyncGenerator<string> {
  const isGzip = response.headers["content-encoding"] === "gzip";
  const body = isGzip ? pipeline(response, createGunzip(), () => {}) : response;
  try {
    yield* body.setEncoding("utf8");
  } catch (error) {
    throw new CutOff(`the body can't be read to its end: ${reason(error)}`);
  }
}

/** Sends a request. @throws NoResponse when none begins, CutOff when it ends too early. */
export async function send(
  service: Endpoint,
  request: ApiRequest,
): Promise<ReceivedResponse> {
  const { text, ...response } = await open(service, request);
  return { ...response, body: await readText(text) };
}

/** An error's message, or its code: an error about several addresses of a host has only that. */
export function reason(error: unknown): string {
  return isFailure(error) ? error.message || `${error.code}` : `${error}`;
}
