import { mkdtemp, rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import type { OrderItem } from "../../shared/order.ts";
import { environments } from "../environments.ts";
import { checkOrders, readOrders } from "../orders-file/orders-file.ts";
import { engineClient } from "./engine/client.ts";
import { checkEndpoint, startEngine } from "./engine/engine.ts";
import { seedOrders } from "./engine/orders.ts";
import { createTables, dropTables } from "./engine/tables.ts";
import { Gateway } from "./gateway/gateway.ts";
import { listen } from "./gateway/listener.ts";
import { createLambdaHost, type LambdaHost } from "./lambda/lambda-host.ts";
import { serveApiPage } from "./page/api-page.ts";
import { readFunctions } from "./template/functions.ts";
import { readRestApi } from "./template/rest-api.ts";
import { readStack, type SynthesisedStack, synthesise } from "./template/synthesis.ts";
import type { Template } from "./template/template.ts";

export interface LocalStackOptions {
  /** 3000 unless given; 0 picks a free one. */
  port?: number | undefined;
  /** NDJSON; a few sample orders unless given. Tables that exist already are left as they are. */
  ordersFile?: string | undefined;
  /** Where the embedded engine keeps its data; in memory unless given. */
  dbFile?: string | undefined;
  /** A DynamoDB engine to use instead of the embedded one. */
  dynamodbEndpoint?: string | undefined;
  /** Epoch milliseconds, for the age of what the authorizer's cache holds. */
  clock?: () => number;
  /** Takes the lines that the functions log; stderr unless given. */
  log?: (line: string) => void;
  /** How many processes one function may have, 4 unless given; requests beyond wait. */
  maxEnvironments?: number;
  /** A directory that the staging stack is in already; else each start synthesises into one of its own. */
  assembly?: string | undefined;
  /** Gives up starting. */
  signal?: AbortSignal;
}

/** The service on this machine: the synthesised template and its bundles over a DynamoDB engine. */
export interface LocalStack {
  /** Like `http://localhost:3000/v1`. */
  baseUrl: string;
  /** A key made for this start. */
  apiKey: string;
  dynamodbEndpoint: string;
  tables: { orders: string; apiKeys: string };
  /** The functions' processes; functions are named by their construct ids: `ListOrders`, `CancelOrder`, `Authorize`. */
  functions: Pick<LambdaHost, "invoke" | "pids">;
  /** Ends everything that was started. */
  stop(): Promise<void>;
}

const sampleOrders = fileURLToPath(new URL("sample-orders.ndjson", import.meta.url));

/**
 * Starts the service on this machine. When it can't, everything that had been started has been stopped again.
 *
 * @throws StartError or OrdersFileError with one clear line for what the user can mend.
 */
export async function startLocalStack(options: LocalStackOptions = {}): Promise<LocalStack> {
  const { ordersFile = sampleOrders, dbFile, dynamodbEndpoint, clock = Date.now, maxEnvironments = 4 } = options;
  const log = options.log ?? ((line) => process.stderr.write(`${line}\n`));
  await using started = new AsyncDisposableStack();

  // First, so that a port that is taken costs nothing; requests wait until there is somebody to serve them.
  const ready = Promise.withResolvers<RequestListener>();
  const listener = await listen(options.port ?? 3000, async (request, response) =>
    (await ready.promise)(request, response),
  );
  started.defer(() => listener.close());

  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const openStack = async (): Promise<SynthesisedStack> => {
    if (options.assembly !== undefined) return readStack(options.assembly);
    const directory = await mkdtemp(join(tmpdir(), "pet-store-orders-"));
    started.defer(() => rm(directory, { recursive: true, force: true }));
    await synthesise(directory, signal);
    return readStack(directory);
  };
  const openEngine = async (): Promise<string> => {
    if (dynamodbEndpoint !== undefined) return checkEndpoint(dynamodbEndpoint);
    const engine = await startEngine(dbFile);
    let stopping = false;
    engine.ended.then(() => stopping || log("The DynamoDB engine has ended by itself"));
    started.defer(async () => {
      stopping = true;
      await engine.stop();
    });
    return engine.endpoint;
  };
  const [stack, endpoint, { orders }] = await allOrNone(failed, [
    openStack(),
    openEngine(),
    checkOrders(ordersFile, { onRead: () => signal.throwIfAborted() }),
  ] as const);

  const client = engineClient(endpoint);
  started.defer(() => client.destroy());
  const tables = {
    orders: stack.template.output("OrdersTableName"),
    apiKeys: stack.template.output("ApiKeysTableName"),
  };
  await fillTables(client, stack.template, tables.orders, readOrders(ordersFile, orders), signal);
  const { key: apiKey } = await issueApiKey(
    DynamoDBDocumentClient.from(client),
    tables.apiKeys,
    environments.staging.apiKeyPrefix,
    { name: "npm start", createdAt: Math.floor(Date.now() / 1000) },
  );

  const api = readRestApi(stack.template);
  const host = createLambdaHost(readFunctions(stack, endpoint), { log, maxEnvironments });
  started.defer(() => host.stop());
  const gateway = new Gateway(api, host, { clock, log });
  const page = { basePath: `/${api.stageName}`, apiKey };
  ready.resolve((request, response) => {
    if (!serveApiPage(page, request, response)) gateway.serve(request, response);
  });

  const running = started.move();
  let stopped: Promise<void> | undefined;
  return {
    baseUrl: `http://localhost:${listener.port}/${api.stageName}`,
    apiKey,
    dynamodbEndpoint: endpoint,
    tables,
    functions: host,
    stop: () => {
      stopped ??= running.disposeAsync();
      return stopped;
    },
  };
}

/** Waits for all, even when one fails, so that what the others start is known and can be stopped. */
async function allOrNone<T extends readonly Promise<unknown>[]>(
  failed: AbortController,
  tasks: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  for (const task of tasks) task.catch((error: unknown) => failed.abort(error));
  await Promise.allSettled(tasks);
  return Promise.all(tasks);
}

async function fillTables(
  client: DynamoDBClient,
  template: Template,
  ordersTable: string,
  orders: AsyncIterable<OrderItem>,
  signal: AbortSignal,
): Promise<void> {
  const created = await createTables(client, template);
  try {
    if (created.includes(ordersTable)) await seedOrders(client, ordersTable, orders, signal);
  } catch (error) {
    // Half filled, they would pass for whole at the next start.
    await dropTables(client, created);
    throw error;
  }
}
