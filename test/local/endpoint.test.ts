import { describe, expect, test, vi } from "vitest";
import { checkEndpoint } from "../../infra/local/engine/engine.ts";

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

  test.each(["http://amazonaws.com.localhost:8000", "http://myamazonaws.com:8000"])("may be %s", async (endpoint) => {
    vi.stubGlobal("fetch", vi.fn());
    expect(await checkEndpoint(`${endpoint}/`)).toBe(endpoint);
  });
});
