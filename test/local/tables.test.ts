import { createServer, Server } from "node:net";
import { type DynamoDBClient, ListTablesCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeEach, expect, inject, onTestFinished, test, vi } from "vitest";
import { type Engine, engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { createTables, prepareTables } from "../../infra/local/engine/tables.ts";
import { listeningPort } from "../../infra/local/machine/ports.ts";
import { readStack } from "../../infra/template/synthesis.ts";
import type { OrderItem } from "../../shared/order.ts";

const { template } = await readStack(inject("assembly"));
const table = template.output("OrdersTableName");
const { signal } = new AbortController();

let engine: Engine | undefined;
let client: DynamoDBClient;
const stop = async () => {
  client?.destroy();
  await engine?.stop();
};
beforeEach(async () => {
  await stop();
  engine = await startEngine();
  client = engineClient(engine.endpoint);
});
afterAll(stop);

/** Orders with these ids, and what happens then. */
async function* orders(from: number, to: number, end = async () => {}): AsyncGenerator<OrderItem, void, void> {
  for (let id = from; id <= to; id++) yield { id: { N: String(id) } };
  await end();
}

async function storedIds(): Promise<number[]> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }));
  return Items.map(({ id }) => Number(id?.N)).sort((a, b) => a - b);
}

async function cutOff(): Promise<void> {
  // Whole transactions of 100.
  await vi.waitFor(async () => expect(await storedIds()).toHaveLength(200), { timeout: 60_000 });
  throw new Error("cut off");
}

test("orders go into a new table once, and leave nothing else behind", async () => {
  expect(await prepareTables(client, template, orders(1, 3), signal)).toBe(true);
  expect(await prepareTables(client, template, orders(4, 9), signal)).toBe(false);
  expect(await storedIds()).toEqual([1, 2, 3]);
  const { TableNames } = await client.send(new ListTablesCommand());
  expect(TableNames?.sort()).toEqual([template.output("ApiKeysTableName"), table].sort());
});

test("a start that was cut off while it wrote the orders is made good by the next, with none of its own left", async () => {
  await expect(prepareTables(client, template, orders(1, 250, cutOff), signal)).rejects.toThrow("cut off");
  expect(await prepareTables(client, template, orders(301, 303), signal)).toBe(true);
  expect(await storedIds()).toEqual([301, 302, 303]);
  expect(await prepareTables(client, template, orders(4, 9), signal)).toBe(false);
});

test("a start that was cut off after its first table is made good by the next", async () => {
  let created = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === "CreateTableCommand" && ++created > 1) throw new Error("cut off");
        return next(args);
      },
    { step: "initialize", name: "onlyOneTable" },
  );
  await expect(prepareTables(client, template, orders(1, 3), signal)).rejects.toThrow("cut off");
  client.middlewareStack.remove("onlyOneTable");
  expect(await prepareTables(client, template, orders(1, 3), signal)).toBe(true);
  expect(await storedIds()).toEqual([1, 2, 3]);
});

test("a table that an engine takes time to create is waited for", async () => {
  const commands: string[] = [];
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        commands.push(commandName);
        return next(args);
      },
    { step: "initialize" },
  );
  await createTables(client, template.all("AWS::DynamoDB::Table").slice(0, 1));
  expect(commands).toEqual(["DescribeTableCommand", "CreateTableCommand", "DescribeTableCommand"]);
});

test("an engine whose port another program has taken meanwhile gets another port", async () => {
  await using other = createServer();
  const taken = await listeningPort(other);
  const free = vi.spyOn(Server.prototype, "address").mockReturnValueOnce({ port: taken, address: "", family: "IPv4" });
  onTestFinished(() => free.mockRestore());
  const second = await startEngine();
  await second.stop();
  expect(free.mock.calls.length).toBe(2);
  expect(second.endpoint).not.toBe(`http://127.0.0.1:${taken}`);
});
