import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createApiServer } from "../../../infra/tools/local/gateway/api-server.ts";
import { listen } from "../../../infra/tools/local/machine/ports.ts";
import { expectError } from "../../helpers/expect-error.ts";

/** Sends bytes to a server that begins a response to every request. @returns what comes back. */
async function sendBytes(bytes: string) {
  const { port, close } = await listen(
    0,
    (_, response) => void response.write("begin"),
    createApiServer,
  );
  onTestFinished(close);
  const socket = connect(port);
  await once(socket, "connect");
  socket.write(bytes);
  return await text(socket);
}

test.each([
  ["nothing of HTTP", "SSH-2.0\r\n\r\n", "bad_request"],
  [
    "two lengths",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "bad_request",
  ],
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
  expect(headers["x-amzn-requestid"]).toBeTruthy();
});

test("what can't be read while a response is under way adds nothing to it", async () => {
  const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const sent = await sendBytes(`${request}nothing of HTTP\r\n\r\n`);
  expect(sent).not.toContain("bad_request");
});
