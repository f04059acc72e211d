import type { IncomingHttpHeaders } from "node:http";

export interface TinyResponse {
  status: number;
  headers: Record<string, string>;
  /** Its chunks are sent as the client reads them. */
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

/** Changes the responses of the exchanges that meet a condition. */
export const when =
  (condition: (...exchange: Parameters<Fault>) => boolean, change: Partial<TinyResponse>): Fault =>
  (request, right) =>
    condition(request, right)
      ? { ...right, ...change, headers: { ...right.headers, ...change.headers } }
      : right;

/** Changes the responses with a status. */
export const whenStatus = (status: number, change: Partial<TinyResponse>): Fault =>
  when((_request, right) => right.status === status, change);

/** Leaves a header out of the responses with a status. */
export const without =
  (header: string, status: number): Fault =>
  (_request, right) => {
    const headers = Object.entries(right.headers).filter(
      ([name]) => name !== header || right.status !== status,
    );
    return { ...right, headers: Object.fromEntries(headers) };
  };
