import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createApiServer } from "../../../infra/tools/local/gateway/api-server.ts";
import { listen } from "../../../infra/tools/local/machine/ports.ts";
import { expectError } from "../../helpers/expect-error.ts";

/**
 * Sends bytes, and nothing more, to a server that begins a response to each request: for `/` once it
 * has read it, else at once. @returns what comes back.
 */
async function sendBytes(bytes: string) {
  const begin = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === "/") await text(request);
    response.write("begin");
  };
  const { port, close } = await listen(
    0,
    (...exchange) => void begin(...exchange).catch(() => {}),
    createApiServer,
  );
  onTestFinished(close);
  const socket = connect(port);
  await once(socket, "connect");
  socket.end(bytes);
  return await text(socket);
}

const post = "POST / HTTP/1.1\r\nHost: a\r\n";
const malformed = "Transfer-Encoding: chunked\r\n\r\nzz\r\n";

test.each([
  ["nothing of HTTP", "SSH-2.0\r\n\r\n", "bad_request"],
  ["a chunk without a size", `${post}${malformed}`, "bad_request"],
  ["less than its length", `${post}Content-Length: 9\r\n\r\n12345678`, "bad_request"],
  ["CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"],
  ["an unknown Expect", "GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", "bad_request"],
  ["no host", "GET / HTTP/1.1\r\n\r\n", "bad_request"],
  [
    "headers of 17 KB",
    `GET / HTTP/1.1\r\na: ${"a".repeat(17_000)}\r\n\r\n`,
    "request_too_large",
  ],
] as const)("a request with %s gets an Error record", async (_what, bytes, code) => {
  const [head = "", body = ""] = (await sendBytes(bytes)).split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((header) => header.toLowerCase().split(": ")),
  );
  expectError({ status: Number(line.split(" ")[1]), headers, body }, code);
  expect(headers).toMatchObject({
    "x-amzn-requestid": expect.stringMatching(/./),
    connection: "close",
  });
});

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

test.each([
  ["response", `${get}nothing of HTTP\r\n\r\n`],
  ["response to HTTP/1.0, which needs no host", "GET / HTTP/1.0\r\n\r\nnothing"],
  [
    "response whose request isn't read to its end",
    `${post.replace("/", "/now")}${malformed}`,
  ],
  ["response, in a second request's body", `${get}${post}${malformed}`],
])(
  "what can't be read after the beginning of a %s adds nothing to it",
  async (_, bytes) => {
    expect(await sendBytes(bytes)).not.toContain("bad_request");
  },
);
