import { connect } from "node:net";

/** A response as on the wire. */
export interface RawResponse {
  status: number;
  headers: Headers;
  /** One character a byte. */
  body: string;
}

const silenceLimitMs = 60_000;

/**
 * Writes requests to a new connection, exactly as given, one after the other, and reads until the
 * other side closes it.
 *
 * @param requests the bytes of each, one character a byte.
 * @returns every whole response with its request, in their order, and the bytes after the last one.
 * @throws Error when the connection stays open and silent.
 */
export async function exchange<Request extends { method: string; bytes: string }>(
  port: number,
  requests: Request[],
) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  const socket = connect({ port, host: "127.0.0.1" });
  socket.setTimeout(silenceLimitMs, () =>
    socket.destroy(new Error("The connection stayed open and silent")),
  );
  socket.on("data", (chunk) => chunks.push(chunk)).on("close", () => resolve());
  socket.on("error", (error: NodeJS.ErrnoException) => {
    // The other side may close while more is on its way to it; what it sent before counts.
    if (error.code !== "EPIPE" && error.code !== "ECONNRESET") reject(error);
  });
  socket.write(requests.map(({ bytes }) => bytes).join(""), "latin1");
  await promise;
  const responses: { request: Request; response: RawResponse }[] = [];
  let rest = Buffer.concat(chunks).toString("latin1");
  for (const request of requests) {
    const read = readResponse(rest, request.method === "HEAD");
    if (read === undefined) break;
    responses.push({ request, response: read.response });
    rest = read.rest;
  }
  return { responses, rest };
}

/** The response at the start of a text; undefined when it is not whole. */
function readResponse(text: string, isBodiless: boolean) {
  const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[\w-]+: [^\r\n]*\r\n)*)\r\n/.exec(text);
  if (head === null) return undefined;
  const [{ length }, status, lines = ""] = head;
  const fields = lines.matchAll(/([\w-]+): ([^\r\n]*)/g);
  const headers = new Headers(
    [...fields].map(([, name = "", value = ""]) => [name, value]),
  );
  const read = readBody(text.slice(length), isBodiless ? new Headers() : headers);
  if (read === undefined) return undefined;
  const { body, rest } = read;
  return { response: { status: Number(status), headers, body }, rest };
}

/** The body at the start of a text, and what follows it; undefined when it is not whole. */
function readBody(
  text: string,
  headers: Headers,
): { body: string; rest: string } | undefined {
  if (headers.get("transfer-encoding") !== "chunked") {
    const length = Number(headers.get("content-length"));
    if (text.length < length) return undefined;
    return { body: text.slice(0, length), rest: text.slice(length) };
  }
  let body = "";
  for (let rest = text; ; ) {
    const [line = "", size = ""] = /^([\da-f]+)\r\n/i.exec(rest) ?? [];
    const end = line.length + Number.parseInt(size, 16);
    if (rest.slice(end, end + 2) !== "\r\n") return undefined;
    body += rest.slice(line.length, end);
    rest = rest.slice(end + 2);
    if (end === line.length) return { body, rest };
  }
}
