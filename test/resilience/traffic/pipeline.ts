import { connect } from "node:net";

/** A response as it is on the wire. */
export interface RawResponse {
  status: number;
  /** By lower-case name, in the order they came. */
  headers: [string, string][];
  body: string;
}

const silenceLimitMs = 60_000;

/**
 * Writes bytes to a connection of its own, exactly as given, and reads until the other side closes
 * it.
 *
 * @param bodiless whether the response with this index has no body, like one to HEAD.
 * @returns every response, and the bytes after the last whole one.
 * @throws Error when the connection stays open and silent.
 */
export async function exchange(port: number, bytes: string, bodiless: (index: number) => boolean) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  const socket = connect({ port, host: "127.0.0.1" });
  socket.setTimeout(silenceLimitMs, () =>
    socket.destroy(new Error("The connection stayed open and silent")),
  );
  socket.on("data", (chunk) => chunks.push(chunk)).on("close", () => resolve());
  socket.on("error", (error: NodeJS.ErrnoException) => {
    // The other side may close while more is on its way to it; what it said before counts.
    if (error.code !== "EPIPE" && error.code !== "ECONNRESET") reject(error);
  });
  socket.write(bytes, "latin1");
  await promise;
  return readResponses(Buffer.concat(chunks).toString("latin1"), bodiless);
}

function readResponses(
  text: string,
  bodiless: (index: number) => boolean,
): { responses: RawResponse[]; rest: string } {
  const responses: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[\w-]+: [^\r\n]*\r\n)*)\r\n/.exec(rest);
    if (head === null) return { responses, rest };
    const [whole, status = "", lines = ""] = head;
    const headers = lines
      .split("\r\n")
      .slice(0, -1)
      .map((line): [string, string] => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 2),
      ]);
    const following = rest.slice(whole.length);
    const body = bodiless(responses.length)
      ? { text: "", length: 0 }
      : readBody(following, new Map(headers));
    if (body === undefined) return { responses, rest };
    responses.push({ status: Number(status), headers, body: body.text });
    rest = rest.slice(whole.length + body.length);
  }
}

/**
 * The body at the start of a text, and how many bytes it takes on the wire; undefined when it is
 * not all there.
 */
function readBody(
  text: string,
  headers: Map<string, string>,
): { text: string; length: number } | undefined {
  const length = Number(headers.get("content-length") ?? 0);
  if (headers.get("transfer-encoding") !== "chunked") {
    return text.length < length ? undefined : { text: text.slice(0, length), length };
  }
  let body = "";
  for (let at = 0; ; ) {
    const [line, size = ""] = /^([\da-f]+)\r\n/i.exec(text.slice(at, at + 12)) ?? [];
    if (line === undefined) return undefined;
    const start = at + line.length;
    const end = start + Number.parseInt(size, 16);
    if (text.slice(end, end + 2) !== "\r\n") return undefined;
    if (end === start) return { text: body, length: end + 2 };
    body += text.slice(start, end);
    at = end + 2;
  }
}
