import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, test, vi } from "vitest";
import { startLocalStack } from "../../../infra/tools/local/local-stack.ts";
import { issueStartKey } from "../../../infra/tools/local/start-key.ts";
import { hashApiKey, makeApiKey } from "../../../shared/api-keys.ts";
import { readAssembly } from "../../helpers/read-assembly.ts";
import { createTestTables } from "../../helpers/test-tables.ts";

const { client, dynamodbEndpoint, putKey, tables } = await createTestTables();
const start = (name: string, key?: string) =>
  issueStartKey(client, tables.apiKeys, name, key);

async function recordOf(key: string, TableName = tables.apiKeys) {
  const Key = { keyHash: { S: hashApiKey(key) } };
  return (await client.send(new GetItemCommand({ TableName, Key }))).Item;
}

test("a start revokes no key but the previous one of the same name", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_999 });
  const others = [await putKey({ name: "Acme" }), await start("npm start, port 3001")];
  const earlier = await start("npm start");
  const record = await recordOf(earlier);
  const latest = await start("npm start");
  for (const key of [...others, latest])
    expect(await recordOf(key)).not.toHaveProperty("revokedAt");
  const now = { N: "1800000000" };
  expect(record).toMatchObject({ createdAt: now });
  expect(await recordOf(earlier)).toEqual({ ...record, revokedAt: now });
});

test("a key that is given to every start keeps its record, until it had been revoked", async () => {
  const given = makeApiKey("pets_test");
  expect(await start("npm start", given)).toBe(given);
  const first = await recordOf(given);
  await start("npm start", given);
  expect(await recordOf(given)).toEqual(first);
  await start("npm start");
  await start("npm start", given);
  expect(await recordOf(given)).not.toHaveProperty("revokedAt");
});

test("stacks that share an engine leave each other's keys alone", async () => {
  await using running = new AsyncDisposableStack();
  const options = { port: 0, dynamodbEndpoint };
  const log = vi.fn<(line: string) => void>();
  const withQueue = async () => {
    const { template, directory } = await readAssembly();
    return {
      template: { ...template, notServed: ["Parcels"] },
      directory,
    };
  };
  const first = await startLocalStack(running, withQueue, { ...options, log });
  // What a template may have besides the service.
  expect(log).toHaveBeenLastCalledWith(
    "Not served: Parcels (see infra/tools/local/template/stack-template.ts)",
  );
  const second = await startLocalStack(running, readAssembly, options);
  for (const { apiKey, tables } of [first, second])
    expect(await recordOf(apiKey, tables.apiKeys)).not.toHaveProperty("revokedAt");
});
