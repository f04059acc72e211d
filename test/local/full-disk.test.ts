import { mkdtemp, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { readStack } from "../../infra/template/synthesis.ts";

test("a start whose engine has no room left fails with one line that says so, and leaves nothing behind", async () => {
  // On a full disk the engine responds like this: it has no table yet, and can't create one.
  const server = createServer(({ headers }, response) => {
    const describes = String(headers["x-amz-target"]).endsWith(".DescribeTable");
    const [status, error, message] = describes
      ? [400, "ResourceNotFoundException", "no such table"]
      : [500, "InternalServerError", "backend: database or disk is full"];
    response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${error}`, message }));
  });
  onTestFinished(() => void server.close());
  const dynamodbEndpoint = `http://127.0.0.1:${await listeningPort(server)}`;
  const temporary = await mkdtemp(join(tmpdir(), "full-disk-test-"));
  vi.stubEnv("TMPDIR", temporary);
  await expect(
    startLocalStack(() => readStack(inject("assembly")), { port: 0, dynamodbEndpoint }),
  ).rejects.toMatchObject({
    name: "StartError",
    message: `The DynamoDB engine at ${dynamodbEndpoint} failed: backend: database or disk is full`,
  });
  expect(await readdir(temporary)).toEqual([]);
});

test("a start whose endpoint is another kind of server fails with one line that names it", async () => {
  const server = createServer((_request, response) => void response.end("<!DOCTYPE html>"));
  onTestFinished(() => void server.close());
  const dynamodbEndpoint = `http://127.0.0.1:${await listeningPort(server)}`;
  await expect(
    startLocalStack(() => readStack(inject("assembly")), { port: 0, dynamodbEndpoint }),
  ).rejects.toMatchObject({
    name: "StartError",
    message: expect.stringMatching(new RegExp(`^The DynamoDB engine at ${dynamodbEndpoint} failed: .+$`)),
  });
});

test("a start whose port nobody chose takes 3000", async () => {
  const listening = vi.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server) {
    queueMicrotask(() => this.emit("error", Object.assign(new Error("taken"), { code: "EADDRINUSE" })));
    return this;
  });
  onTestFinished(() => listening.mockRestore());
  await expect(startLocalStack(() => readStack(inject("assembly")))).rejects.toThrow("Port 3000 on localhost is taken");
});
