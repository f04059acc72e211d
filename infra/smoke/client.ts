import assert from "node:assert/strict";
import type { HttpResponse } from "./response-problems.ts";

/** A deployed service, and a key of its environment. */
export interface Endpoint {
  /** Ends in `/v1`, without a slash after it. */
  baseUrl: string;
  apiKey: string;
}

export interface ApiRequest {
  method: string;
  path: string;
  /** Instead of `Bearer` and the service's key; null sends no such header. */
  authorization?: string | null;
  headers?: Record<string, string>;
  body?: string;
}

/** A response, with the method and path of its request. */
export type ApiResponse = HttpResponse & Pick<ApiRequest, "method" | "path">;

/** A response whose body is still to be read. */
export interface OpenResponse extends Omit<ApiResponse, "body"> {
  /** The body in chunks, decompressed. Reading it throws AssertionError when it is cut off. */
  text: AsyncIterable<string>;
}

/** How long a response may take to begin, in milliseconds. */
const silenceLimit = 30_000;

/** Sends a request and leaves the body of the response to be read. @throws Error when no response begins. */
export async function open(
  { baseUrl, apiKey }: Endpoint,
  { method, path, authorization = `Bearer ${apiKey}`, headers, body }: ApiRequest,
): Promise<OpenResponse> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(new Error(`silent for ${silenceLimit / 1000} s`)), silenceLimit);
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      connection: "close",
      "accept-encoding": "gzip",
      ...(authorization !== null && { authorization }),
      ...headers,
    },
    body: body ?? null,
    redirect: "manual",
    signal: silent.signal,
  }).finally(() => clearTimeout(timer));
  const { status, headers: sent, body: stream } = response;
  return { method, path, status, headers: Object.fromEntries(sent), text: read(stream) };
}

async function* read(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): AsyncGenerator<string> {
  try {
    if (body !== null) yield* body.pipeThrough(new TextDecoderStream());
  } catch (error) {
    assert.fail(`the body can't be read to its end: ${reason(error)}`);
  }
}

/** Sends a request. @throws Error when no response begins, AssertionError when it is cut off. */
export async function send(service: Endpoint, request: ApiRequest): Promise<ApiResponse> {
  return readWhole(await open(service, request));
}

/** @throws AssertionError when the response is cut off. */
export async function readWhole({ text, ...response }: OpenResponse): Promise<ApiResponse> {
  return { ...response, body: (await Array.fromAsync(text)).join("") };
}

/** The messages of an error and its causes: fetch's own says only that it failed. */
export function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join("; ");
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reason(error.cause)}`;
}
