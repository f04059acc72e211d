import { connect } from "node:net";

/** A response as on the wire. */
export interface RawResponse {
  status: number;
  /** By lower-case name, in the order they came. */
  headers: [string, string][];
  body: string;
}

const silenceLimitMs = 60_000;

/**
 * Writes bytes to a new connection, exactly as given, and reads until the other side closes it.
 *
 * @param isBodiless whether the response with this index has no body, like one to HEAD.
 * @returns every whole response, and the bytes after the last one.
 * @throws Error when the connection stays open and silent.
 */
export async function exchange(
  port: number,
  bytes: string,
  isBodiless: (index: number) => boolean,
): Promise<RawResponses> {
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
  socket.write(bytes, "latin1");
  await promise;
  return readResponses(Buffer.concat(chunks).toString("latin1"), isBodiless);
}

interface RawResponses {
  responses: RawResponse[];
  rest: string;
}

function readResponses(text: string, isBodiless: (index: number) => boolean): RawResponses {
  const responses: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const head = readHead(rest);
    if (head === undefined) return { responses, rest };
    const body = isBodiless(responses.length)
      ? { text: "", length: 0 }
      : readBody(rest.slice(head.length), new Map(head.headers));
    if (body === undefined) return { responses, rest };
    responses.push({ status: head.status, headers: head.headers, body: body.text });
    rest = rest.slice(head.length + body.length);
  }
}

interface Head {
  status: number;
  headers: [string, string][];
  /** How many bytes it takes, the empty line included. */
  length: number;
}

/** The head at the start of a text; undefined when it is not whole. */
function readHead(text: string): Head | undefined {
  const match = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[\w-]+: [^\r\n]*\r\n)*)\r\n/.exec(text);
  if (match === null) return undefined;
  const [head, status, lines = ""] = match;
  const headers = lines.split("\r\n").slice(0, -1).map(readHeader);
  return { status: Number(status), headers, length: head.length };
}

function readHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
}

interface Body {
  text: string;
  /** How many bytes it takes on the wire. */
  length: number;
}

/** The body at the start of a text; undefined when it is not whole. */
function readBody(text: string, headers: Map<string, string>): Body | undefined {
  if (headers.get("transfer-encoding") === "chunked") return readChunks(text);
  const length = Number(headers.get("content-length") ?? 0);
  return text.length < length ? undefined : { text: text.slice(0, length), length };
}

function readChunks(text: string): Body | undefined {
  let body = "";
  let position = 0;
  for (;;) {
    const sizeLine = /^([\da-f]+)\r\n/i.exec(text.slice(position, position + 12));
    if (sizeLine === null) return undefined;
    const [line, size = ""] = sizeLine;
    const start = position + line.length;
    const end = start + Number.parseInt(size, 16);
    if (text.slice(end, end + 2) !== "\r\n") return undefined;
    position = end + 2;
    if (end === start) return { text: body, length: position };
    body += text.slice(start, end);
  }
}
