import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../functions/authorize.ts";
import { issuedKeys } from "../helpers/issued-keys.ts";
import { lambdaContext } from "../helpers/lambda.ts";
import { spyOnLog } from "../helpers/log.ts";

const table = mockClient(DynamoDBDocumentClient);
const log = spyOnLog();
const { key, hash } = issuedKeys.test;
const now = 1_800_000_000;
const stage = "arn:aws:execute-api:eu-central-1:000000000000:api/v1";

beforeEach(() => {
  table.reset();
  vi.useFakeTimers({ now: now * 1000 + 999, toFake: ["Date"] });
});

const record = { keyHash: hash, keyId: "key_1", name: "Acme", createdAt: now - 100 };

function authorize(authorizationToken: string) {
  const methodArn = `${stage}/DELETE/store/orders/42`;
  return handler({ type: "TOKEN", methodArn, authorizationToken }, lambdaContext());
}

test.each([
  ["Bearer", {}],
  ["bearer ", {}],
  ["BEARER", { expiresAt: now + 1 }],
])(
  "an active key is admitted to every method after one consistent read (%s, %j)",
  async (scheme, times) => {
    table.on(GetCommand).resolves({ Item: { ...record, ...times } });
    const Resource = `${stage}/*`;
    const allowed = { Effect: "Allow", Action: "execute-api:Invoke", Resource };
    expect(await authorize(`${scheme} ${key}`)).toEqual({
      principalId: "key_1",
      policyDocument: { Version: "2012-10-17", Statement: [allowed] },
      context: { keyId: "key_1" },
    });
    const read = { TableName: "api-keys", Key: { keyHash: hash }, ConsistentRead: true };
    expect(table.calls().map(({ args }) => [args[0].input, args.at(1)])).toEqual([
      [read, { abortSignal: expect.any(AbortSignal) }],
    ]);
  },
);

test.each([
  ["unknown", {}],
  ["revoked", { Item: { ...record, revokedAt: now - 1 } }],
  ["expired at this very second", { Item: { ...record, expiresAt: now } }],
  ["without an id", { Item: { ...record, keyId: undefined } }],
])(
  "a key that is %s is rejected, without a stack trace or a line in the log",
  async (_, output) => {
    table.on(GetCommand).resolves(output);
    const rejection = { message: "Unauthorized", stack: "Error: Unauthorized" };
    await expect(authorize(`Bearer ${key}`)).rejects.toMatchObject(rejection);
    expect(log.error).not.toHaveBeenCalled();
  },
);

test.each([
  "KEY",
  "Basic KEY",
  "Bearer\tKEY",
  "Bearer KEY ",
  "Bearer KEY\n",
  "Bearer KEY, Bearer KEY",
  "Bearer KEY0",
  "",
])("the token %j is rejected without a read", async (token) => {
  const rejected = authorize(token.replaceAll("KEY", key));
  await expect(rejected).rejects.toThrow(/^Unauthorized$/);
  expect(table.calls()).toHaveLength(0);
});

test("a table that can't be read is another failure, logged without the key", async () => {
  table.on(GetCommand).rejects(new Error("secret"));
  await expect(authorize(`Bearer ${key}`)).rejects.toThrow(/^The key can't be checked$/);
  const { calls } = log.error.mock;
  const causes = [expect.objectContaining({ message: "secret" })];
  expect(calls).toEqual([[{ event: "authorize_failed", causes }]]);
  expect(JSON.stringify(calls)).not.toContain(key);
});
