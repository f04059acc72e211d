import { randomUUID } from "node:crypto";
import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorCode, errorBody, errors } from "../../../../shared/errors.ts";

/** Creates an HTTP server. Requests that Node.js would reject itself get Error records, too. */
export function createApiServer(serve: RequestListener): Server {
  /** Connections with a response under way, into which nothing else may be written. */
  const responding = new WeakSet<Duplex>();
  const reject = (socket: Duplex, code: ErrorCode) => {
    if (responding.has(socket) || !socket.writable) socket.destroy();
    else socket.end(errorResponse(code));
  };
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const { headers, httpVersion, socket } = request;
    if (httpVersion === "1.1" && headers.host === undefined)
      return reject(socket, "bad_request");
    responding.add(socket);
    response.once("close", () => responding.delete(socket));
    serve(request, response);
  });
  // Any but `100-continue`.
  server.on("checkExpectation", ({ socket }) => reject(socket, "bad_request"));
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
