import { DeleteItemCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { carryOver } from "../../infra/admin/carry-over.ts";
import { keyRules } from "../../infra/admin/carry-over-rules.ts";
import { TableCalls } from "../../infra/admin/table-calls.ts";
import type { OrderItem as Item } from "../../shared/order.ts";
import { createOldTable, putItems } from "../helpers/admin/old-orders.ts";
import { createTestTables } from "../helpers/admin/test-tables.ts";
import { justBefore } from "../helpers/faults/fault-proxy.ts";

const tables = await createTestTables();
const { client } = tables;
const { apiKeys } = tables.tables;
const old = createOldTable(client, "apiKeys");
const putOld = (...items: Item[]) => putItems(client, old(), items);
const putNew = (...items: Item[]) => putItems(client, apiKeys, items);

describe("carrying keys over", () => {
  const key = (name: string, more: Item = {}): Item => ({
    keyHash: { S: `hash of ${name}` },
    keyId: { S: `key_${name}` },
    createdAt: { N: "1800000000" },
    ...more,
  });
  const revoked: Item = { revokedAt: { N: "1800000001" } };
  const revokedLater: Item = { revokedAt: { N: "1800000099" } };
  const carryKeys = (through: DynamoDBClient = client) =>
    carryOver({
      from: old(),
      to: apiKeys,
      rules: keyRules,
      dryRun: false,
      reads: new TableCalls(through),
      writes: new TableCalls(through),
      signal: new AbortController().signal,
    });
  const newKeys = async () =>
    Object.fromEntries((await tables.items("apiKeys")).map((item) => [item["keyId"]?.S, item]));

  test("brings missing keys and revocations with their old times, and revives none", async () => {
    await putOld(key("issued"), key("revoked", revoked), key("both", revoked), key("active"));
    await putOld(key("twice", revoked), key("here"));
    await putNew(key("revoked"), key("active"), key("twice", revokedLater), key("here", revokedLater));
    expect(await carryKeys()).toEqual({
      text: `Carried over to ${apiKeys}: 2 issued, 2 revoked, 3 already so`,
      json: { to: apiKeys, dryRun: false, complete: true, issued: 2, revoked: 2, alreadySo: 3 },
      rejected: false,
    });
    expect(await newKeys()).toEqual({
      key_issued: key("issued"),
      key_revoked: key("revoked", revoked),
      key_both: key("both", revoked),
      key_active: key("active"),
      key_twice: key("twice", revokedLater),
      key_here: key("here", revokedLater),
    });
    expect((await carryKeys()).json).toMatchObject({ issued: 0, revoked: 0, alreadySo: 6 });
  });

  test("keeps the time of a revocation that is faster", async () => {
    await putOld(key("a", revoked));
    await putNew(key("a"));
    const { target } = await tables.behindProxy(justBefore("UpdateItem", () => putNew(key("a", revokedLater))));
    expect((await carryKeys(target.client)).json).toMatchObject({ revoked: 0, alreadySo: 1 });
    expect(await newKeys()).toEqual({ key_a: key("a", revokedLater) });
  });

  test("makes no half of a key that is gone when it is to be revoked", async () => {
    await putOld(key("a", revoked));
    await putNew(key("a"));
    const Key = { keyHash: { S: "hash of a" } };
    const remove = () => client.send(new DeleteItemCommand({ TableName: apiKeys, Key }));
    const { target } = await tables.behindProxy(justBefore("UpdateItem", remove));
    expect((await carryKeys(target.client)).json).toMatchObject({ issued: 1, revoked: 1 });
    expect(await newKeys()).toEqual({ key_a: key("a", revoked) });
  });
});
