import { randomUUID } from "node:crypto";
import {
  DeleteItemCommand,
  DeleteTableCommand,
  paginateScan,
} from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeEach, onTestFinished } from "vitest";
import { startEngine } from "../../infra/tools/local/engine/engine.ts";
import { engineClient } from "../../infra/tools/running-stacks/engine-client.ts";
import { createTable } from "./create-table.ts";
import { type Choice, startFaultProxy } from "./faults/fault-proxy.ts";
import { tableWriter } from "./table-writer.ts";

/** The engine of all test files that run in this process. It ends with the process. */
let engine: Promise<{ endpoint: string }> | undefined;

/** Creates tables for the calling test file, which are empty before each test. */
export async function createTestTables() {
  // Files that need the embedded engine have no DYNAMODB_ENDPOINT (vitest.config.ts).
  const { DYNAMODB_ENDPOINT: external } = process.env;
  engine ??= external ? Promise.resolve({ endpoint: external }) : startEngine();
  const { endpoint } = await engine;
  const client = engineClient(endpoint);
  const tables = { orders: `Orders-${randomUUID()}`, apiKeys: `ApiKeys-${randomUUID()}` };
  const create = () =>
    Promise.all([
      createTable(client, "orders", tables.orders),
      createTable(client, "apiKeys", tables.apiKeys),
    ]);
  const remove = () =>
    Promise.all(
      Object.values(tables).map((TableName) =>
        client.send(new DeleteTableCommand({ TableName })),
      ),
    );
  beforeEach(create);
  afterEach(remove);
  afterAll(() => client.destroy());
  const items = async (table: keyof typeof tables) => {
    const scan = { TableName: tables[table] };
    const pages = await Array.fromAsync(paginateScan({ client }, scan));
    return pages.flatMap(({ Items = [] }) => Items);
  };
  return {
    dynamodbEndpoint: endpoint,
    tables,
    client,
    ...tableWriter(client, tables, "pets_test"),
    items,
    /** Deletes all items. */
    empty: async () => {
      for (const table of ["orders", "apiKeys"] as const)
        for (const { id, keyHash } of await items(table)) {
          const Key = { ...(id && { id }), ...(keyHash && { keyHash }) };
          const TableName = tables[table];
          await client.send(new DeleteItemCommand({ TableName, Key }));
        }
    },
    /** The same tables behind a fault proxy, until the test ends. */
    behindProxy: async (choose: Choice) => {
      const proxy = await startFaultProxy(endpoint, choose);
      const proxied = engineClient(proxy.endpoint);
      onTestFinished(async () => {
        proxied.destroy();
        await proxy.stop();
      });
      return { proxy, client: proxied };
    },
  };
}
