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
import { type SynthesisedStack, synthesise } from "../../infra/local/template/synthesis.ts";
import { formatOrderLine } from "../../infra/orders-file/order-line.ts";
import { functionList } from "../../infra/stack/function-list.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import type { OrderItem } from "../../shared/order.ts";
import { order } from "./page-server.ts";
import { byHand, sdkAlone } from "./row.ts";
import { cpuMilliseconds } from "./samples.ts";

/** A function by the id of its construct. */
export type FunctionId = "ListOrders" | "CancelOrder" | "Authorize";

/** The synthesised stack that is measured, with its bundles and an engine with its tables. */
export interface Subject {
  stack: SynthesisedStack;
  engine: Engine;
  client: DynamoDBClient;
  ordersTable: string;
  apiKey: string;
  /** The functions as deployed. */
  functions: Record<FunctionId, FunctionDefinition>;
  stop(): Promise<void>;
}

export async function prepare(): Promise<Subject> {
  const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-bench-"));
  const stack = await synthesise(directory, { signal: new AbortController().signal });
  const engine = await startEngine();
  const client = engineClient(engine.endpoint);
  await createTables(client, stack.template.all("AWS::DynamoDB::Table"));
  const apiKeysTable = stack.template.output("ApiKeysTableName");
  const apiKey = makeApiKey(environments.staging.apiKeyPrefix);
  const fields = { name: "bench", createdAt: 0 };
  await issueApiKey(DynamoDBDocumentClient.from(client), apiKeysTable, apiKey, fields);
  const definitions = readFunctions(stack, engine.endpoint);
  return {
    stack,
    engine,
    client,
    ordersTable: stack.template.output("OrdersTableName"),
    apiKey,
    functions: {
      ListOrders: functionOf(definitions, "ListOrders"),
      CancelOrder: functionOf(definitions, "CancelOrder"),
      Authorize: functionOf(definitions, "Authorize"),
    },
    stop: async () => {
      client.destroy();
      await engine.stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** @throws Error when there is no function of this name. */
export function functionOf(definitions: FunctionDefinition[], name: FunctionId) {
  const found = definitions.find((definition) => definition.name === name);
  if (found === undefined) throw new Error(`The stack has no function ${name}`);
  return found;
}

/**
 * Puts the least work that could do the same in a function's place: a file of `floor`, which signs
 * each call by hand, or of `floor/sdk`.
 */
export function floorOf(
  definition: FunctionDefinition,
  folder: "floor" | "floor/sdk" = "floor",
): FunctionDefinition {
  const entry = Object.values(functionList).find(({ id }) => id === definition.name);
  if (entry === undefined) throw new Error(`There is no floor for ${definition.name}`);
  const directory = fileURLToPath(new URL(folder, import.meta.url));
  return { ...definition, directory, handler: entry.file.replace(/ts$/, "handler") };
}

/** A host for these functions, one process each, that logs nothing. */
export function hostOf(...definitions: FunctionDefinition[]): LambdaHost {
  return createLambdaHost(definitions, { log: () => {}, maxEnvironments: 1 });
}

/** A host for a function, `ours`, and for the least work in its place, by the rows' names. */
export function hostBesideFloors(definition: FunctionDefinition): LambdaHost {
  return hostOf(
    { ...definition, name: "ours" },
    { ...floorOf(definition, "floor/sdk"), name: sdkAlone },
    { ...floorOf(definition), name: byHand },
  );
}

/**
 * The CPU that the process of one of a host's functions has used so far, in milliseconds: 0 before
 * its first invocation starts it.
 */
export function cpuSoFar(host: LambdaHost, name: string): number {
  const [pid] = host.pids(name);
  return pid === undefined ? 0 : cpuMilliseconds(pid);
}

/** A pending order with all five fields. */
export function pendingOrder(id: number): OrderItem {
  return { ...order(id), status: { S: "pending" } };
}

/** Its line in an orders file. */
export function orderLine(id: number): string | undefined {
  return formatOrderLine(pendingOrder(id));
}

/** Puts pending orders with the ids from `from` up to, but not including, `to`. */
export async function putOrders(
  client: DynamoDBClient,
  table: string,
  from: number,
  to: number,
): Promise<void> {
  const orders = async function* (): AsyncGenerator<OrderItem, void, void> {
    for (let id = from; id < to; id += 1) yield pendingOrder(id);
  };
  await seedOrders(client, table, orders(), new AbortController().signal);
}

/** The event of a list, as the gateway hands it to the function. */
export function listEvent(acceptEncoding?: string): unknown {
  return {
    ...requestOf("GET", "/store/orders"),
    headers: acceptEncoding === undefined ? {} : { "Accept-Encoding": acceptEncoding },
  };
}

/** The event of a cancellation. */
export function cancelEvent(orderId: number): unknown {
  return {
    ...requestOf("DELETE", "/store/orders/{orderId}"),
    headers: {},
    pathParameters: { orderId: String(orderId) },
  };
}

/** The event of the authorizer. */
export function authorizeEvent(apiKey: string): unknown {
  const methodArn = "arn:aws:execute-api:us-east-1:000000000000:api/v1/DELETE/store/orders/1";
  return { type: "TOKEN", authorizationToken: `Bearer ${apiKey}`, methodArn };
}

function requestOf(httpMethod: string, resource: string): object {
  return {
    resource,
    httpMethod,
    pathParameters: null,
    requestContext: {
      resourcePath: resource,
      httpMethod,
      stage: "v1",
      authorizer: { principalId: "key_bench", keyId: "key_bench" },
    },
  };
}
