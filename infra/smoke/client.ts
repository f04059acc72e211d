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

/** How long a response may take to begin, in milliseconds. */
const silenceLimit = 30_000;

/** Sends requests to one base address, with one API key. */
export class Client {
  readonly #baseUrl: string;
  readonly apiKey: string;

  /** @param baseUrl ends in `/v1`. */
  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl;
    this.apiKey = apiKey;
  }

  /** @throws Error when no response begins, Broken when it is cut off. */
  async send(path: string, options: RequestOptions = {}): Promise<Response> {
    const { text, ...response } = await this.open(path, options);
    return { ...response, body: (await Array.fromAsync(text)).join("") };
  }

  /** Like `send`, but leaves the body to be read. */
  async open(
    path: string,
    { method = "GET", headers, body, key = this.apiKey }: RequestOptions = {},
  ): Promise<OpenResponse> {
    const silent = new AbortController();
    const timer = setTimeout(() => silent.abort(new Error(`silent for ${silenceLimit / 1000} s`)), silenceLimit);
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers: {
        connection: "close",
        "accept-encoding": "gzip",
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...headers,
      },
      body: body ?? null,
      redirect: "manual",
      signal: silent.signal,
    }).finally(() => clearTimeout(timer));
    return {
      method,
      path,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: read(response.body),
    };
  }
}

async function* read(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): AsyncGenerator<string> {
  try {
    if (body !== null) yield* body.pipeThrough(new TextDecoderStream());
  } catch (error) {
    throw new Broken(`the body can't be read to its end: ${reason(error)}`);
  }
}

/** The messages of an error and its causes: fetch's own says only that it failed. */
export function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join("; ");
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reason(error.cause)}`;
}
