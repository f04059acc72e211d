import type { IncomingHttpHeaders } from "node:http";
import { afterAll, afterEach, beforeEach, vi } from "vitest";
import { listen } from "../../infra/tools/local/machine/ports.ts";

/** The header by which DynamoDB's responses are known. */
export const requestId = "x-amzn-RequestId: A1\r\n";

/** The bytes of a response: its status, headers and body. */
export function response(status: number, body: string, headers = requestId): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `HTTP/1.1 ${status} Any\r\nConnection: close\r\n${length}${headers}\r\n${body}`;
}

/** More than any test makes, and soon reached by a client that would go on for ever. */
export const mostAttempts = 300;

/**
 * Starts a server in place of DynamoDB, and lets clients make no pauses between attempts. It rejects
 * attempts beyond `mostAttempts`, which ends even a client that would go on for ever.
 */
export async function startFakeTable() {
  const { port, close } = await listen(0, async (request) => {
    await request.toArray();
    table.attempts += 1;
    const bytes =
      table.attempts > mostAttempts
        ? response(400, `{"__type":"ValidationException","message":"Too many attempts"}`)
        : table.respond(table.attempts, request.headers);
    if (typeof bytes === "string") request.socket.end(bytes);
    else request.socket.write(bytes.unfinished);
  });
  const table = {
    endpoint: `http://127.0.0.1:${port}`,
    attempts: 0,
    /** The bytes of the response to an attempt, which counts from 1. */
    respond: (
      _attempt: number,
      _headers: IncomingHttpHeaders,
    ): string | { unfinished: string } => response(200, "{}"),
  };
  beforeEach(() => {
    table.attempts = 0;
    vi.spyOn(Math, "random").mockReturnValue(0);
  });
  afterEach(() => void vi.restoreAllMocks());
  afterAll(close);
  return table;
}
