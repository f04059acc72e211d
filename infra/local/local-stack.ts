import type { RequestListener } from "node:http";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../shared/clock.ts";
import { checkOrders, OrdersFileError, readOrders } from "../orders-file/orders-file.ts";
import { dummyCredentials } from "../template/local-account.ts";
import { StartError } from "../template/start-error.ts";
import type { SynthesisedStack } from "../template/synthesis.ts";
import { lockDb } from "./engine/db-lock.ts";
import { checkEndpoint, engineClient, startEngine } from "./engine/engine.ts";
import { startEngineProxy } from "./engine/engine-proxy.ts";
import { createTables, prepareTables } from "./engine/tables.ts";
import type { GatewayOptions } from "./gateway/gateway.ts";
import type { LambdaHostOptions } from "./lambda/lambda-host.ts";
import { listen } from "./machine/ports.ts";
import { serveApiPage } from "./page/api-page.ts";
import { createLiveService, openService, type Service } from "./service.ts";
import { watchSources } from "./source-watch.ts";
import { issueStartKey } from "./start-key.ts";

/**
 * `log` also gets messages of the local stack. Unless given, it writes to stderr, and a function
 * has up to 4 processes.
 */
export interface LocalStackOptions extends Partial<GatewayOptions & LambdaHostOptions> {
  /** 3000 unless given; 0 picks a free one. */
  port?: number | undefined;
  /**
   * NDJSON for a new table of orders; a few sample orders unless given. An existing table stays as
   * it is.
   */
  orders?: string | undefined;
  /** Where the embedded engine keeps its data; in memory unless given. */
  db?: string | undefined;
  /** A DynamoDB engine to use instead of the embedded one. */
  dynamodbEndpoint?: string | undefined;
  /** A key for this start, well-formed; a new one unless given. */
  apiKey?: string | undefined;
  /** Whether to build again when the sources change. */
  watch?: boolean | undefined;
  /** Gives up starting. */
  signal?: AbortSignal;
}

/**
 * Synthesises the stack to serve. Builds may share a directory: CDK names a bundle by its hash, so
 * all keep theirs.
 */
export type Build = (signal: AbortSignal) => Promise<SynthesisedStack>;

/** The service on this machine: the synthesised template and its bundles over a DynamoDB engine. */
export type LocalStack = Awaited<ReturnType<typeof startLocalStack>>;

/** Several stacks may share an engine of someone else's, but never a port. */
function startKeyName({ dynamodbEndpoint }: LocalStackOptions, port: number): string {
  return dynamodbEndpoint === undefined ? "npm start" : `npm start, port ${port}`;
}

const sampleOrders = fileURLToPath(new URL("sample-orders.ndjson", import.meta.url));

/**
 * Starts the service on this machine. If that fails, everything that was started is stopped again.
 *
 * @throws StartError or OrdersFileError with one line for the user.
 */
export async function startLocalStack(build: Build, options: LocalStackOptions = {}) {
  const { orders: ordersFile = sampleOrders, clock = systemClock } = options;
  const { log = (line) => process.stderr.write(`${line}\n`) } = options;
  await using started = new AsyncDisposableStack();
  const ended = new AbortController();
  const signals = [ended.signal, options.signal];
  const signal = AbortSignal.any(signals.filter((each) => each !== undefined));

  // First, so that a taken port is found at once; requests wait until the service can serve them.
  const ready = Promise.withResolvers<RequestListener>();
  const listener = await listen(options.port ?? 3000, async (request, response) =>
    (await ready.promise)(request, response),
  );
  started.defer(() => listener.close());

  const file = { name: ordersFile, path: ordersFile };
  const tasks = [
    build(signal),
    openEngine(options, `http://localhost:${listener.port}`, started, ended),
    checkOrders(file, () => signal.throwIfAborted()),
  ] as const;
  for (const task of tasks) task.catch((error: unknown) => ended.abort(error));
  // All of them, even if one fails, so that everything the others start can be stopped.
  await Promise.allSettled(tasks);
  ended.signal.throwIfAborted();
  const [firstBuild, engine, orders] = await Promise.all(tasks);

  const { endpoint } = engine;
  const client = engineClient(endpoint);
  started.defer(() => client.destroy());
  const { template } = firstBuild;
  const tables = {
    orders: template.output("OrdersTableName"),
    apiKeys: template.output("ApiKeysTableName"),
  };
  const keyName = startKeyName(options, listener.port);
  const { apiKey, hasNewTables } = await orEngineFailure(endpoint, ended.signal, async () => ({
    hasNewTables: await prepareTables(client, template, readOrders(file, orders), signal),
    apiKey: await issueStartKey(client, tables.apiKeys, keyName, options.apiKey),
  }));

  const serve = async (built: SynthesisedStack): Promise<Service> => {
    const service = openService(built, endpoint, { ...options, clock, log });
    const { leftOut } = built.template;
    if (leftOut.length > 0)
      log(`Left out here: ${leftOut.join(", ")} (see infra/template/stack-template.ts)`);
    await createTables(client, built.template.all("AWS::DynamoDB::Table"));
    return service;
  };
  const first = await serve(firstBuild);
  const live = createLiveService(first);
  started.defer(() => live.stop());
  if (options.watch) {
    const rebuild = () => live.replace(async () => serve(await build(signal)), signal, log);
    const watching = watchSources(rebuild, ended.signal);
    started.defer(() => watching);
  }
  started.defer(() => ended.abort());

  const basePath = `/${first.stageName}`;
  ready.resolve((request, response) => {
    if (!serveApiPage({ basePath, apiKey }, request, response)) live.serve(request, response);
  });
  const running = started.move();
  return {
    /** Like `http://localhost:3000/v1`. */
    baseUrl: `http://localhost:${listener.port}${basePath}`,
    /** A key issued for this start. */
    apiKey,
    /** The engine's own address, for this process and its functions. */
    dynamodbEndpoint: endpoint,
    /** The way to the tables for others. */
    dynamodb: engine.announced,
    tables,
    /** Whether the tables are new, and so hold the orders of this start. */
    hasNewTables,
    /**
     * Aborts when the stack stops, or its engine has ended by itself: then the reason is a
     * StartError.
     */
    ended: ended.signal,
    /** Ends everything that was started. */
    stop: () => running.disposeAsync(),
  };
}

/** A DynamoDB engine: its own address, and the endpoint and access key id for other programs. */
interface OpenEngine {
  endpoint: string;
  announced: { endpoint: string; accessKeyId: string };
}

/** Finds or starts a DynamoDB engine. One that was started is stopped with the rest. */
async function openEngine(
  { dynamodbEndpoint, db }: LocalStackOptions,
  stack: string,
  started: AsyncDisposableStack,
  ended: AbortController,
): Promise<OpenEngine> {
  if (dynamodbEndpoint !== undefined) {
    const endpoint = await checkEndpoint(dynamodbEndpoint);
    return { endpoint, announced: { endpoint, accessKeyId: dummyCredentials.accessKeyId } };
  }
  if (db !== undefined) started.defer(await lockDb(db, stack));
  const engine = await startEngine(db);
  engine.ended.then(() => ended.abort(new StartError("The DynamoDB engine has ended by itself")));
  started.defer(engine.stop);
  const proxy = await startEngineProxy(engine.endpoint);
  started.defer(proxy.close);
  return { endpoint: engine.endpoint, announced: proxy };
}

/**
 * Does work that needs the engine, and says in one line when that fails, because the disk is full
 * for example.
 */
async function orEngineFailure<T>(
  endpoint: string,
  ended: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    ended.throwIfAborted();
    if (
      !(error instanceof Error) ||
      error instanceof StartError ||
      error instanceof OrdersFileError
    )
      throw error;
    const [reason] = (error.message || error.name).split("\n");
    throw new StartError(`The DynamoDB engine at ${endpoint} failed: ${reason}`, { cause: error });
  }
}
