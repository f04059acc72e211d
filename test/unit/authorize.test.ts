import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import type { APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { handler } from "../../functions/authorize.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";
import { lambdaContext } from "../helpers/lambda.ts";

const table = mockClient(DynamoDBDocumentClient);
const logError = vi.spyOn(console, "error").mockReturnValue();
const { key, hash } = issuedKeys.test;
const now = 1_800_000_000;

beforeEach(() => {
  table.reset();
  logError.mockClear();
  vi.useFakeTimers({ now: now * 1000 + 999, toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const record = { keyHash: hash, keyId: "key_1", name: "Acme", createdAt: now - 100 };

function authorize(authorizationToken: string, milliseconds = 5000) {
  const methodArn = "arn:aws:execute-api:eu-central-1:000000000000:api/v1/DELETE/store/orders/42";
  const event: APIGatewayTokenAuthorizerEvent = { type: "TOKEN", methodArn, authorizationToken };
  return handler(event, { ...lambdaContext(), getRemainingTimeInMillis: () => milliseconds });
}

describe("the authorizer", () => {
  test.each(["Bearer", "bearer", "BEARER"])(
    "admits an active key under the scheme %s, for every method of the stage",
    async (scheme) => {
      table.on(GetCommand).resolves({ Item: record });
      expect(await authorize(`${scheme} ${key}`)).toEqual({
        principalId: "key_1",
        policyDocument: {
          Version: "2012-10-17",
          Statement: [
            {
              Effect: "Allow",
              Action: "execute-api:Invoke",
              Resource: "arn:aws:execute-api:eu-central-1:000000000000:api/v1/*",
            },
          ],
        },
        context: { keyId: "key_1" },
      });
    },
  );

  test("reads the table once, consistently, by the key's hash", async () => {
    table.on(GetCommand).resolves({ Item: record });
    await authorize(`Bearer ${key}`);
    expect(table.calls().map(({ args }) => args[0].input)).toEqual([
      {
        TableName: "api-keys",
        Key: { keyHash: hash },
        ConsistentRead: true,
      },
    ]);
    expect(table.calls()[0]?.args.at(1)).toEqual({ abortSignal: expect.any(AbortSignal) });
  });

  test.each([
    ["unknown", undefined],
    ["revoked", { ...record, revokedAt: now - 1 }],
    ["expired at this very second", { ...record, expiresAt: now }],
    ["without an id", { ...record, keyId: undefined }],
  ])("rejects a key that is %s", async (_, Item) => {
    table.on(GetCommand).resolves(Item ? { Item } : {});
    const rejection = { message: "Unauthorized", stack: "Error: Unauthorized" };
    await expect(authorize(`Bearer ${key}`)).rejects.toMatchObject(rejection);
    expect(logError).not.toHaveBeenCalled();
  });

  test("admits a key until the second before it expires", async () => {
    table.on(GetCommand).resolves({ Item: { ...record, expiresAt: now + 1 } });
    expect(await authorize(`Bearer ${key}`)).toMatchObject({ principalId: "key_1" });
  });

  test.each([
    ["no scheme", key],
    ["another scheme", `Basic ${key}`],
    ["two spaces", `Bearer  ${key}`],
    ["a space behind", `Bearer ${key} `],
    ["a line behind", `Bearer ${key}\n`],
    ["two keys", `Bearer ${key}, Bearer ${key}`],
    ["a wrong checksum", `Bearer ${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`],
    ["nothing", ""],
  ])("rejects %s without a read", async (_, token) => {
    await expect(authorize(token)).rejects.toThrow(/^Unauthorized$/);
    expect(table.calls()).toHaveLength(0);
  });

  test("fails with another error than Unauthorized when the table can't be read", async () => {
    table.on(GetCommand).rejects(new Error("secret"));
    await expect(authorize(`Bearer ${key}`)).rejects.toThrow("secret");
  });

  test("logs that the table can't be read, without the key", async () => {
    table.on(GetCommand).rejects(new Error("secret"));
    await expect(authorize(`Bearer ${key}`)).rejects.toThrow();
    expect(logError.mock.calls).toEqual([[expect.objectContaining({ event: "authorize_failed" })]]);
    expect(JSON.stringify(logError.mock.calls)).not.toContain(key);
  });

  test("fails before its time is up when the table does not respond", async () => {
    table.on(GetCommand).callsFake(() => new Promise(() => {}));
    await expect(authorize(`Bearer ${key}`, 251)).rejects.toThrow("aborted");
  });
});
