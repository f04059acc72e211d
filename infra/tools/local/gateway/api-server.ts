import { randomUUID } from "node:crypto";
import {
  createServer,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorCode, errorBody, errors } from "../../../../shared/errors.ts";

/** Creates an HTTP server. Requests that Node.js would reject itself get Error records, too. */
export function createApiServer(serve: RequestListener): Server {
  /** The responses to each connection's latest request. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  const reject = (socket: Duplex, code: ErrorCode) => {
    const response = latest.get(socket);
    const isIdle = response?.closed ?? true;
    // Pipelined requests that wait for their turn have no socket.
    const isUnread = response?.socket && !response.req.complete && !response.headersSent;
    if (socket.writable && (isIdle || isUnread)) socket.end(errorResponse(code));
    else socket.destroy();
  };
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const { headers, httpVersion, socket } = request;
    if (httpVersion === "1.1" && headers.host === undefined)
      return reject(socket, "bad_request");
    latest.set(socket, response);
    serve(request, response);
  });
  // Of `Expect`, any but `100-continue`.
  for (const event of ["checkExpectation", "connect"])
    server.on(event, ({ socket }) => reject(socket, "bad_request"));
  server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) => {
    const isTooLarge = code === "HPE_HEADER_OVERFLOW";
    reject(socket, isTooLarge ? "request_too_large" : "bad_request");
  });
  return server;
}

/** A whole HTTP response, after which the connection ends. */
function errorResponse(code: ErrorCode) {
  const { status } = errors[code];
  const body = errorBody(code);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    `x-amzn-RequestId: ${randomUUID()}`,
    "Connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
