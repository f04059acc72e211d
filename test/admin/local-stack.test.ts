import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, inject, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { readStack } from "../../infra/template/synthesis.ts";
import { hashApiKey } from "../../shared/api-keys.ts";
import { runHere } from "../helpers/admin/command-here.ts";

test("the gateway accepts an issued key until it is revoked or expires and its cache has forgotten it", async () => {
  let now = Date.now();
  await using cleanUp = new AsyncDisposableStack();
  const stack = await startLocalStack(() => readStack(inject("assembly")), {
    port: 0,
    clock: { now: () => now },
    log: () => {},
  });
  cleanUp.defer(() => stack.stop());
  const client = engineClient(stack.dynamodbEndpoint);
  cleanUp.defer(() => client.destroy());
  const admin = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(stack, [...args, "--json"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout);
  };
  const list = async (key: string) => {
    const response = await fetch(`${stack.baseUrl}/store/orders`, { headers: { Authorization: `Bearer ${key}` } });
    return { status: response.status, body: await response.json() };
  };
  const forgetKeys = () => {
    now += environments.staging.authorizerCacheSeconds * 1000 + 1;
  };
  const accepted = { status: 200, body: expect.any(Array) };
  const rejected = { status: 401, body: expect.objectContaining({ code: "unauthorized" }) };

  const expiring = await admin("keys", "issue", "--name", "Expiring", "--expires", "2997-12-31");
  const revoked = await admin("keys", "issue", "--name", "Revoked");
  expect(await list(expiring.key)).toEqual(accepted);
  expect(await list(revoked.key)).toEqual(accepted);

  await admin("keys", "revoke", revoked.keyId);
  await client.send(
    new UpdateItemCommand({
      TableName: stack.tables.apiKeys,
      Key: { keyHash: { S: hashApiKey(expiring.key) } },
      UpdateExpression: "SET expiresAt = :past",
      ExpressionAttributeValues: { ":past": { N: "1700000000" } },
    }),
  );
  expect(await list(revoked.key)).toEqual(accepted);
  forgetKeys();
  expect(await list(revoked.key)).toEqual(rejected);
  expect(await list(expiring.key)).toEqual(rejected);

  const states = (await admin("keys", "list")).map(({ name, state }: { name: string; state: string }) => [name, state]);
  expect(Object.fromEntries(states)).toMatchObject({ Expiring: "expired", Revoked: "revoked" });
});
