import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import type { OrderItem as Item } from "../../shared/order.ts";
import { justBefore } from "../helpers/faults/fault-proxy.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { createOldTable } from "./old-orders.ts";

const tables = await createTestTables();
const { client } = tables;
const { apiKeys } = tables.tables;

describe("carrying keys over", () => {
  const keys = createOldTable(tables, "apiKeys");
  const key = (name: string, more: Item = {}): Item => ({
    keyHash: { S: `hash of ${name}` },
    keyId: { S: `key_${name}` },
    createdAt: { N: "1800000000" },
    ...more,
  });
  const revoked: Item = { revokedAt: { N: "1800000001" } };
  const revokedLater: Item = { revokedAt: { N: "1800000099" } };

  const putSomeKeys = async () => {
    await keys.putOld(key("issued"), key("revoked", revoked), key("both", revoked), key("active"));
    await keys.putOld(key("twice", revoked), key("revokedSince"));
    await keys.putNew(
      key("revoked"),
      key("active"),
      key("twice", revokedLater),
      key("revokedSince", revokedLater),
    );
  };

  test("says how many keys and revocations it carried over", async () => {
    await putSomeKeys();
    expect(await keys.carry()).toEqual({
      text: `Carried over to ${apiKeys}: 2 issued, 2 revoked, 3 already so`,
      json: { to: apiKeys, dryRun: false, complete: true, issued: 2, revoked: 2, alreadySo: 3 },
      rejected: false,
    });
  });

  test("copies missing keys and revocations with their original times", async () => {
    await putSomeKeys();
    await keys.carry();
    expect(await keys.newItems()).toMatchObject({
      key_issued: key("issued"),
      key_revoked: key("revoked", revoked),
      key_both: key("both", revoked),
      key_active: key("active"),
    });
  });

  test("leaves a revoked key as it is", async () => {
    await putSomeKeys();
    await keys.carry();
    expect(await keys.newItems()).toMatchObject({
      key_twice: key("twice", revokedLater),
      key_revokedSince: key("revokedSince", revokedLater),
    });
  });

  test("changes nothing when it is run again", async () => {
    await putSomeKeys();
    await keys.carry();
    const before = await keys.newItems();
    const { json } = await keys.carry();
    expect(json).toMatchObject({ issued: 0, revoked: 0, alreadySo: 6 });
    expect(await keys.newItems()).toEqual(before);
  });

  test("keeps a revocation that someone else makes just before its own", async () => {
    await keys.putOld(key("a", revoked));
    await keys.putNew(key("a"));
    const { target } = await tables.behindProxy(
      justBefore("UpdateItem", () => keys.putNew(key("a", revokedLater))),
    );
    const { json } = await keys.carry({ client: target.client });
    expect(json).toMatchObject({ revoked: 0, alreadySo: 1 });
    expect(await keys.newItems()).toEqual({ key_a: key("a", revokedLater) });
  });

  test("copies the whole record of a key that is deleted just before it is revoked", async () => {
    await keys.putOld(key("a", revoked));
    await keys.putNew(key("a"));
    const Key = { keyHash: { S: "hash of a" } };
    const remove = () => client.send(new DeleteItemCommand({ TableName: apiKeys, Key }));
    const { target } = await tables.behindProxy(justBefore("UpdateItem", remove));
    const { json } = await keys.carry({ client: target.client });
    expect(json).toMatchObject({ issued: 1, revoked: 1 });
    expect(await keys.newItems()).toEqual({ key_a: key("a", revoked) });
  });
});
