import { randomUUID } from "node:crypto";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach } from "vitest";
import type { OrderItem as Item } from "../../shared/order.ts";
import { createTable } from "../helpers/create-table.ts";
import { createTestTables } from "../helpers/test-tables.ts";
import { runHere } from "./command-here.ts";

/**
 * Creates the tables of a test file, of which those of one kind are to be mended, and for each test
 * a copy of that table.
 */
export async function createMendedTable(kind: "orders" | "apiKeys") {
  const tables = await createTestTables();
  const { client } = tables;
  let copy: string;
  beforeEach(async () => {
    copy = `Copy-${randomUUID()}`;
    await createTable(client, kind, copy);
  });
  const put = (TableName: string, items: Item[]) =>
    Promise.all(items.map((Item) => client.send(new PutItemCommand({ TableName, Item }))));
  const items = async (): Promise<Record<string, Item>> =>
    Object.fromEntries(
      (await tables.items(kind)).map((item) => [item["id"]?.N ?? item["keyId"]?.S, item]),
    );
  return {
    ...tables,
    live: tables.tables[kind],
    putCopied: (...copied: Item[]) => put(copy, copied),
    putLive: (...current: Item[]) => put(tables.tables[kind], current),
    /** The live table's items by the id of the order or of the key. */
    items,
    /**
     * Runs a command, with the copy's name in place of COPY. Returns what it printed, with the
     * lines of standard output in order, and the live table's items afterwards.
     */
    run: async (
      words: string,
      { input, endpoint = tables.dynamodbEndpoint }: { input?: string; endpoint?: string } = {},
    ) => {
      const args = words.replace("COPY", copy).split(" ");
      const at = { ...tables, dynamodbEndpoint: endpoint };
      const { code, stdout, stderr } = await runHere(
        at,
        args,
        input === undefined ? {} : { input },
      );
      const lines = (text: string) => text.split("\n").filter((line) => line !== "");
      const [printed, said] = [lines(stdout).toSorted(), lines(stderr)];
      return { code, printed, said, items: await items() };
    },
  };
}

export const order = (id: number, status: string, more: Item = {}): Item => ({
  id: { N: String(id) },
  petId: { N: "9007199254740993" },
  status: { S: status },
  ...more,
});

/** An order that a key has cancelled. */
export const cancelled = (id: number, keyId: string, more: Item = {}): Item =>
  order(id, "cancelled", {
    cancelledAt: { S: "2026-11-20T08:00:01.000Z" },
    cancelledBy: { S: keyId },
    cancellationId: { S: `${keyId} cancels ${id}` },
    ...more,
  });
