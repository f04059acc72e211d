import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { issueApiKey } from "../../infra/admin/api-keys.ts";
import { environments } from "../../infra/environments.ts";
import { type Engine, startEngine } from "../../infra/local/engine/engine.ts";
import { createTables, engineClient, seedOrders } from "../../infra/local/engine/tables.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/execution-environment.ts";
import { createLambdaHost, type LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import { readFunctions } from "../../infra/local/template/functions.ts";
import { readStack, type SynthesisedStack, synthesise } from "../../infra/local/template/template.ts";
import type { OrderRow } from "../../infra/orders-file/order-line.ts";

export type FunctionName = "ListOrders" | "CancelOrder" | "Authorize";

/** What is measured: the synthesised stack, its bundles and an engine with its tables. */
export interface Subject {
  stack: SynthesisedStack;
  engine: Engine;
  client: DynamoDBClient;
  ordersTable: string;
  apiKey: string;
  /** The functions as deployed; a bench may change a copy, to run something else in one's place. */
  functions: Record<FunctionName, FunctionDefinition>;
  stop(): Promise<void>;
}

export async function prepare(): Promise<Subject> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-bench-"));
  await synthesise(directory, new AbortController().signal);
  const stack = await readStack(directory);
  const engine = await startEngine();
  const client = engineClient(engine.endpoint);
  await createTables(client, stack.template);
  const apiKeysTable = stack.template.output("ApiKeysTableName");
  const target = { client, apiKeysTable, environment: environments.staging };
  const { key: apiKey } = await issueApiKey(target, { name: "bench", createdAt: 0 });
  const definitions = readFunctions(stack, engine.endpoint);
  const named = (name: FunctionName): FunctionDefinition => {
    const found = definitions.find((definition) => definition.name === name);
    if (found === undefined) throw new Error(`The stack has no function ${name}`);
    return found;
  };
  return {
    stack,
    engine,
    client,
    ordersTable: stack.template.output("OrdersTableName"),
    apiKey,
    functions: { ListOrders: named("ListOrders"), CancelOrder: named("CancelOrder"), Authorize: named("Authorize") },
    stop: async () => {
      client.destroy();
      await engine.stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** The function with another handler in its place: a file of `floor/`. */
export function floorOf(definition: FunctionDefinition, file: "empty" | "admit"): FunctionDefinition {
  return { ...definition, directory: fileURLToPath(new URL("floor", import.meta.url)), handler: `${file}.handler` };
}

/** A host for these functions, one process each, that logs nothing. */
export function hostOf(...definitions: FunctionDefinition[]): LambdaHost {
  return createLambdaHost(definitions, { log: () => {}, maxEnvironments: 1 });
}

/** Puts pending orders with all five fields and the ids from `from` up to, but not including, `to`. */
export async function putOrders(client: DynamoDBClient, table: string, from: number, to: number): Promise<void> {
  const orders = async function* (): AsyncGenerator<OrderRow, void, void> {
    for (let id = from; id < to; id += 1) yield order(id);
  };
  await seedOrders(client, table, orders(), new AbortController().signal);
}

function order(id: number): OrderRow {
  return {
    id: { N: String(id) },
    petId: { N: String((id * 7919) % 100_003) },
    quantity: { N: String((id % 9) + 1) },
    shipDate: { S: new Date(1_790_000_000_000 + id * 60_000).toISOString() },
    complete: { BOOL: id % 3 === 0 },
    status: { S: "pending" },
  };
}
