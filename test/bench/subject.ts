import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { environments } from "../../infra/environments.ts";
import { type Engine, engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { seedOrders } from "../../infra/local/engine/seed-orders.ts";
import { createTables } from "../../infra/local/engine/tables.ts";
import { readFunctions } from "../../infra/local/functions.ts";
import { createLambdaHost, type LambdaHost } from "../../infra/local/lambda/lambda-host.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import { type SynthesisedStack, synthesise } from "../../infra/template/synthesis.ts";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import type { OrderItem } from "../../shared/order.ts";
import { order } from "./page-server.ts";

export type FunctionName = "ListOrders" | "CancelOrder" | "Authorize";

/** The subject of the bench: the synthesised stack, its bundles and an engine with its tables. */
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
  const stack = await synthesise(directory, { signal: new AbortController().signal });
  const engine = await startEngine();
  const client = engineClient(engine.endpoint);
  await createTables(client, stack.template.all("AWS::DynamoDB::Table"));
  const apiKeysTable = stack.template.output("ApiKeysTableName");
  const { key: apiKey } = await issueApiKey(
    DynamoDBDocumentClient.from(client),
    apiKeysTable,
    environments.staging.apiKeyPrefix,
    { name: "bench", createdAt: 0 },
  );
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

const floors = { ListOrders: "list-orders", CancelOrder: "cancel-order", Authorize: "authorize" };

/** The function with the least work that could do the same in its place, each call signed by hand: a file of `floor/`. */
export function floorOf(definition: FunctionDefinition): FunctionDefinition {
  return inPlaceOf(definition, "floor");
}

/** The function with the least work that could do the same through the SDK: a file of `floor/sdk/`. */
export function sdkFloorOf(definition: FunctionDefinition): FunctionDefinition {
  return inPlaceOf(definition, "floor/sdk");
}

function inPlaceOf(definition: FunctionDefinition, folder: string): FunctionDefinition {
  const file = new Map(Object.entries(floors)).get(definition.name);
  if (file === undefined) throw new Error(`There is no floor for ${definition.name}`);
  const directory = fileURLToPath(new URL(folder, import.meta.url));
  return { ...definition, directory, handler: `${file}.handler` };
}

/** A host for these functions, one process each, that logs nothing. */
export function hostOf(...definitions: FunctionDefinition[]): LambdaHost {
  return createLambdaHost(definitions, { log: () => {}, maxEnvironments: 1 });
}

/** Puts pending orders with all five fields and the ids from `from` up to, but not including, `to`. */
export async function putOrders(client: DynamoDBClient, table: string, from: number, to: number): Promise<void> {
  const orders = async function* (): AsyncGenerator<OrderItem, void, void> {
    for (let id = from; id < to; id += 1) yield { ...order(id), status: { S: "pending" } };
  };
  await seedOrders(client, table, orders(), new AbortController().signal);
}
