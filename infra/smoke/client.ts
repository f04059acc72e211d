import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Broken } from "./check.ts";
import type { HttpResponse } from "./response-problems.ts";

/** A response, with the request that it answers. */
export interface Response extends HttpResponse {
  method: string;
  path: string;
}

/** A response whose body is still to be read. */
export interface OpenResponse extends Omit<Response, "body"> {
  /** The body in chunks, decompressed. Reading it throws Broken when it is cut off. */
  text: AsyncIterable<string>;
}

export interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Sent instead of the client's own key; null sends none. */
  key?: string | null;
}

/** How long a server may stay silent, in milliseconds. */
const silenceLimit = 30_000;

/** Sends requests to one base address, with one API key. */
export class Client {
  readonly #baseUrl: URL;
  readonly apiKey: string;

  /** @param baseUrl ends in `/v1`. */
  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = new URL(baseUrl);
    this.apiKey = apiKey;
  }

  /**
   * Sends a request over a connection of its own.
   *
   * @param path below the base address, sent as it is.
   * @throws Error when no response begins, Broken when it is cut off.
   */
  async send(path: string, options: RequestOptions = {}): Promise<Response> {
    const { text, ...response } = await this.open(path, options);
    return { ...response, body: (await Array.fromAsync(text)).join("") };
  }

  /** Like `send`, but leaves the body to be read. */
  async open(
    path: string,
    { method = "GET", headers = {}, body = "", key = this.apiKey }: RequestOptions = {},
  ): Promise<OpenResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = this.#baseUrl.protocol === "https:" ? requestHttps : requestHttp;
    const sent = request(this.#baseUrl.origin, {
      method,
      path: this.#baseUrl.pathname + path,
      headers: {
        "accept-encoding": "gzip",
        ...(key !== null && { authorization: `Bearer ${key}` }),
        // Node.js doesn't send it with a DELETE.
        ...(body !== "" && { "content-length": Buffer.byteLength(body) }),
        ...headers,
      },
      agent: false,
      timeout: silenceLimit,
    });
    sent.on("timeout", () => sent.destroy(new Error(`silent for ${silenceLimit / 1000} s`)));
    sent.on("error", reject);
    sent.on("response", resolve);
    sent.end(body);
    const response = await promise;
    const gzip = response.headers["content-encoding"] === "gzip";
    return {
      method,
      path,
      status: response.statusCode ?? 0,
      headers: response.headers,
      text: read(gzip ? pipeline(response, createGunzip(), () => {}) : response),
    };
  }
}

async function* read(body: Readable): AsyncGenerator<string> {
  try {
    yield* body.setEncoding("utf8");
  } catch (error) {
    throw new Broken(`the body can't be read to its end: ${error instanceof Error ? error.message : error}`);
  }
}
