import type { RequestListener } from "node:http";
import { fileURLToPath } from "node:url";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import { environments } from "../environments.ts";
import { checkOrders, readOrders } from "../orders-file/orders-file.ts";
import { type Build, build } from "./build.ts";
import { checkEndpoint, engineClient, startEngine } from "./engine/engine.ts";
import { createTables, prepareTables } from "./engine/tables.ts";
import type { LambdaHost } from "./lambda/lambda-host.ts";
import { listen } from "./machine/ports.ts";
import { serveApiPage } from "./page/api-page.ts";
import { LiveService, Service } from "./service.ts";
import { watchSources } from "./source-watch.ts";

export interface LocalStackOptions {
  /** 3000 unless given; 0 picks a free one. */
  port?: number | undefined;
  /** NDJSON for a new table of orders; a few sample orders unless given. An existing table stays as it is. */
  ordersFile?: string | undefined;
  /** Where the embedded engine keeps its data; in memory unless given. */
  dbFile?: string | undefined;
  /** A DynamoDB engine to use instead of the embedded one. */
  dynamodbEndpoint?: string | undefined;
  /** Epoch milliseconds, to expire what the authorizer's cache holds. */
  clock?: () => number;
  /** Called with each line that a function logs, and with messages of the local stack; stderr unless given. */
  log?: (line: string) => void;
  /** How many processes one function may have, 4 unless given; further requests wait. */
  maxEnvironments?: number;
  /** A directory with the synthesised staging stack; else each start synthesises it. */
  assembly?: string | undefined;
  /** Whether to rebuild when the sources change. */
  watch?: boolean | undefined;
  /** Gives up starting. */
  signal?: AbortSignal;
}

/** The service on this machine: the synthesised template and its bundles over a DynamoDB engine. */
export interface LocalStack {
  /** Like `http://localhost:3000/v1`. */
  baseUrl: string;
  /** A key issued for this start. */
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
 * Starts the service on this machine. If that fails, everything that was started is stopped again.
 *
 * @throws StartError, TemplateError or OrdersFileError with one line for the user.
 */
export async function startLocalStack(options: LocalStackOptions = {}): Promise<LocalStack> {
  const { ordersFile = sampleOrders, clock = Date.now, maxEnvironments = 4 } = options;
  const { log = (line) => process.stderr.write(`${line}\n`) } = options;
  await using started = new AsyncDisposableStack();
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, ...(options.signal === undefined ? [] : [options.signal])]);

  // First, so that a taken port is found at once; requests wait until the service can serve them.
  const ready = Promise.withResolvers<RequestListener>();
  const listener = await listen(options.port ?? 3000, async (request, response) =>
    (await ready.promise)(request, response),
  );
  started.defer(() => listener.close());

  const startBuild = async (): Promise<Build> => started.use(await build(signal, options.assembly));
  const [firstBuild, endpoint, { orders }] = await allOrNone(ended, [
    startBuild(),
    openEngine({ ...options, log }, started, ended),
    checkOrders(ordersFile, { onRead: () => signal.throwIfAborted() }),
  ] as const);

  const client = engineClient(endpoint);
  started.defer(() => client.destroy());
  const { template } = firstBuild;
  const tables = { orders: template.output("OrdersTableName"), apiKeys: template.output("ApiKeysTableName") };
  const seeded = await prepareTables(client, template, readOrders(ordersFile, orders), signal);
  if (!seeded && options.ordersFile !== undefined) {
    log(`${ordersFile} was not loaded: the tables exist already. To add its orders, run:`);
    log(`  npm run admin -- orders import --local ${quoted(ordersFile)}`);
  }
  const { key: apiKey } = await issueApiKey(
    DynamoDBDocumentClient.from(client),
    tables.apiKeys,
    environments.staging.apiKeyPrefix,
    { name: "npm start", createdAt: Math.floor(Date.now() / 1000) },
  );

  const serve = async (built: Build): Promise<Service> => {
    const service = new Service(built, endpoint, { clock, log, maxEnvironments });
    await createTables(client, built.template);
    return service;
  };
  const live = new LiveService(await serve(firstBuild));
  started.defer(() => live.stop());
  if (options.watch) {
    const watching = watchSources(() => live.rebuild(serve, { signal, log }), ended.signal);
    started.defer(() => watching);
  }
  started.defer(() => ended.abort());

  const basePath = `/${live.current.stageName}`;
  ready.resolve((request, response) => {
    if (!serveApiPage({ basePath, apiKey }, request, response)) live.current.serve(request, response);
  });
  const running = started.move();
  let stopped: Promise<void> | undefined;
  return {
    baseUrl: `http://localhost:${listener.port}${basePath}`,
    apiKey,
    dynamodbEndpoint: endpoint,
    tables,
    functions: {
      invoke: (...invocation) => live.current.host.invoke(...invocation),
      pids: (name) => live.current.host.pids(name),
    },
    stop: () => {
      stopped ??= running.disposeAsync();
      return stopped;
    },
  };
}

/** Finds or starts a DynamoDB engine. One that was started is stopped with the rest. */
async function openEngine(
  { dynamodbEndpoint, dbFile, log }: LocalStackOptions & { log: (line: string) => void },
  started: AsyncDisposableStack,
  ended: AbortController,
): Promise<string> {
  if (dynamodbEndpoint !== undefined) return checkEndpoint(dynamodbEndpoint);
  const engine = await startEngine(dbFile);
  engine.ended.then(() => ended.signal.aborted || log("The DynamoDB engine has ended by itself: restart npm start"));
  started.defer(() => {
    ended.abort();
    return engine.stop();
  });
  return engine.endpoint;
}

/** A file's name, quoted for a shell. */
function quoted(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}

/** Waits for all, even if one fails, so that everything the others start can be stopped. */
async function allOrNone<T extends readonly Promise<unknown>[]>(
  failed: AbortController,
  tasks: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  for (const task of tasks) task.catch((error: unknown) => failed.abort(error));
  await Promise.allSettled(tasks);
  return Promise.all(tasks);
}
