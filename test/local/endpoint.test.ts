import { createServer } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { checkEndpoint } from "../../infra/local/engine/engine.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";

describe("DYNAMODB_ENDPOINT", () => {
  test.each([
    "dynamodb.us-east-1.amazonaws.com",
    "dynamodb.us-east-1.amazonaws.com.",
    "dynamodb.cn-north-1.amazonaws.com.cn",
    "dynamodb.us-east-1.api.aws",
    "dynamodb.eusc-de-east-1.amazonaws.eu",
  ])("may not be %s, which is AWS, and nothing is sent there", async (host) => {
    const fetched = vi.fn();
    vi.stubGlobal("fetch", fetched);
    await expect(checkEndpoint(`https://${host}`)).rejects.toThrow(`DYNAMODB_ENDPOINT points into AWS (${host})`);
    expect(fetched).not.toHaveBeenCalled();
  });

  test.each(["localhost:8000", "nonsense", "ftp://localhost"])(
    "may not be %s, which HTTP can't reach",
    async (text) => {
      await expect(checkEndpoint(text)).rejects.toMatchObject({
        name: "StartError",
        message: `DYNAMODB_ENDPOINT must be an address like http://localhost:8000, not ${text}`,
      });
    },
  );

  test.each(["http://amazonaws.com.localhost:8000", "http://myamazonaws.com:8000", "https://engine/with/path"])(
    "may be %s",
    async (endpoint) => {
      vi.stubGlobal("fetch", vi.fn());
      expect(await checkEndpoint(`${endpoint}/`)).toBe(endpoint);
    },
  );

  test("gets five seconds to respond", async () => {
    const silence = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(silence.signal);
    onTestFinished(() => timeout.mockRestore());
    const server = createServer(() => silence.abort(new Error("over")));
    onTestFinished(() => void server.close());
    const port = await listeningPort(server);
    await expect(checkEndpoint(`http://127.0.0.1:${port}`)).rejects.toThrow(
      `No DynamoDB engine answers at DYNAMODB_ENDPOINT, 127.0.0.1:${port}`,
    );
    expect(timeout).toHaveBeenCalledWith(5000);
  });
});
