import { createServer } from "node:http";
import { afterAll, beforeEach, vi } from "vitest";
import { listenOn } from "../../infra/local/machine/ports.ts";

/** The bytes of a response: its status, headers and body. */
export function response(status: number, body: string, headers = ""): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `HTTP/1.1 ${status} Any\r\nConnection: close\r\n${length}${headers}\r\n${body}`;
}

/** Starts a server in place of DynamoDB, at the endpoint of every client made in a test. */
export async function startFakeTable() {
  const table = {
    /** What each attempt has sent: method, path, headers and body. */
    attempts: [] as unknown[],
    /** The bytes of the response to an attempt, which counts from 1; undefined for none. */
    respond: (_attempt: number): string | undefined => response(200, "{}"),
  };
  const server = createServer(async (request) => {
    const { method, url, rawHeaders, socket } = request;
    const body = (await request.toArray()).join("");
    table.attempts.push([method, url, ...rawHeaders, body]);
    const bytes = table.respond(table.attempts.length);
    if (bytes !== undefined) socket.end(bytes);
  });
  const endpoint = `http://127.0.0.1:${await listenOn(server)}`;
  beforeEach(() => {
    table.attempts = [];
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return table;
}
