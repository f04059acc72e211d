import { connect } from "node:net";

/** A response as on the wire. */
export interface RawResponse {
  status: number;
  /** By lower-case name, in the order they came. */
  headers: [string, string][];
  body: string;
}

/** Every whole response, and the bytes after the last one. */
interface RawResponses {
  responses: RawResponse[];
  rest: string;
}

const silenceLimitMs = 60_000;

/**
 * Writes bytes to a new connection, exactly as given, and reads until the other side closes it.
 *
 * @param isBodiless whether the response with this index has no body, like one to HEAD.
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

function readResponses(text: string, isBodiless: (index: number) => boolean): RawResponses {
  const responses: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[\w-]+: [^\r\n]*\r\n)*)\r\n/.exec(rest);
    if (head === null) return { responses, rest };
    const [{ length }, status, lines = ""] = head;
    const headers = lines.split("\r\n").slice(0, -1).map(readHeader);
    const framing = new Map(isBodiless(responses.length) ? [] : headers);
    const read = readBody(rest.slice(length), framing);
    if (read === undefined) return { responses, rest };
    responses.push({ status: Number(status), headers, body: read.body });
    ({ rest } = read);
  }
}

function readHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
}

/** The body at the start of a text, and what follows it; undefined when it is not whole. */
function readBody(
  text: string,
  headers: Map<string, string>,
): { body: string; rest: string } | undefined {
  if (headers.get("transfer-encoding") !== "chunked") {
    const length = Number(headers.get("content-length") ?? 0);
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
