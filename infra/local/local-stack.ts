import type { RequestListener } from "node:http";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../shared/clock.ts";
import { checkOrders, readOrders } from "../orders-file/orders-file.ts";
import { CommandError } from "../terminal/errors.ts";
import { checkEndpoint, engineClient, startEngine } from "./engine/engine.ts";
import { startEngineProxy } from "./engine/engine-proxy.ts";
import { logProgress } from "./engine/seed-orders.ts";
import { createTables, prepareTables } from "./engine/tables.ts";
import type { GatewayOptions } from "./gateway/gateway.ts";
import type { LambdaHostOptions } from "./lambda/lambda-host.ts";
import { lockDatabase } from "./machine/file-lock.ts";
import { listen } from "./machine/ports.ts";
import { serveApiPage } from "./page/api-page.ts";
import { createLiveService, openService, type Service } from "./service.ts";
import { watchSources } from "./source-watch.ts";
import { issueStartKey } from "./start-key.ts";
import { dummyCredentials } from "./template/local-account.ts";
import type { SynthesisedStack } from "./template/synthesis.ts";

export interface LocalStackOptions extends Partial<GatewayOptions & LambdaHostOptions> {
  /** Gets the lines of the functions and of the local stack; unless given, stderr does. */
  log?: (line: string) => void;
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
  /** Aborts the start. */
  signal?: AbortSignal;
}

/**
 * Synthesises the stack to serve. Builds may share a directory: CDK names a bundle by its hash, so
 * no build overwrites another's.
 */
export type Build = (signal: AbortSignal) => Promise<SynthesisedStack>;

/** The service on this machine: the synthesised template and its bundles over a DynamoDB engine. */
export type LocalStack = Awaited<ReturnType<typeof startLocalStack>>;

const sampleOrders = fileURLToPath(new URL("sample-orders.ndjson", import.meta.url));

/**
 * Starts the service on this machine. If that fails, everything that was started is stopped again.
 *
 * @throws CommandError with one line for the user.
 */
export async function startLocalStack(build: Build, options: LocalStackOptions = {}) {
  const { log = (line) => process.stderr.write(`${line}\n`), clock = systemClock } = options;
  await using started = new AsyncDisposableStack();
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, options.signal ?? ended.signal]);

  // First, so that a taken port is found at once; requests wait until the service can serve them.
  const ready = Promise.withResolvers<RequestListener>();
  const { port, close } = await listen(options.port ?? 3000, async (request, response) => {
    const serve = await ready.promise;
    serve(request, response);
  });
  started.defer(close);

  const { orders: path = sampleOrders } = options;
  const tasks = [
    build(signal),
    openEngine(options, started, ended),
    checkOrders({ name: path, path }, () => signal.throwIfAborted()),
  ] as const;
  await allOrAbort(tasks, ended);
  const [firstBuild, { endpoint, access }, orderCount] = await Promise.all(tasks);

  const client = engineClient(endpoint);
  started.defer(() => client.destroy());
  const orders = logProgress(readOrders({ name: path, path }, orderCount), orderCount, log);
  // Stacks may share an external engine, so the port tells their keys apart.
  const keyName = options.dynamodbEndpoint === undefined ? "npm start" : `npm start, port ${port}`;
  const { template } = firstBuild;
  const prepared = prepareTables(client, template, orders, signal).then(async (hasNewTables) => {
    const tables = {
      orders: template.output("OrdersTableName"),
      apiKeys: template.output("ApiKeysTableName"),
    };
    const apiKey = await issueStartKey(client, tables.apiKeys, keyName, options.apiKey);
    return { hasNewTables, tables, apiKey };
  });
  const data = await prepared.catch((error) => throwEngineFailure(endpoint, ended.signal, error));

  const open = async (built: SynthesisedStack): Promise<Service> => {
    const service = openService(built, endpoint, { ...options, clock, log });
    await createTables(client, built.template.all("AWS::DynamoDB::Table"));
    return service;
  };
  const first = await open(firstBuild);
  const live = createLiveService(first);
  started.defer(() => live.stop());
  if (options.watch) {
    const buildAndOpen = async () => open(await build(signal));
    const watching = watchSources(() => live.rebuild(buildAndOpen, signal, log), signal, log);
    started.defer(() => watching);
  }
  started.defer(() => ended.abort());

  const basePath = `/${first.stageName}`;
  ready.resolve((request, response) => {
    const page = { basePath, apiKey: data.apiKey };
    if (!serveApiPage(page, request, response)) live.serve(request, response);
  });
  const running = started.move();
  return {
    /** A key for this start, the tables, and whether they are new: then they hold its orders. */
    ...data,
    /** Like `http://localhost:3000/v1`. */
    baseUrl: `http://localhost:${port}${basePath}`,
    /** The engine's own address, for this process and its functions. */
    dynamodbEndpoint: endpoint,
    /** How other programs reach the tables. */
    dynamodb: access,
    /**
     * Aborts when the stack stops, or when its engine ends unexpectedly: then the reason is a
     * CommandError.
     */
    ended: ended.signal,
    /** Ends everything that was started. */
    stop: () => running.disposeAsync(),
  };
}

/**
 * Waits for all tasks, even if one fails, so that everything the others start can be stopped. The
 * first failure aborts `ended`.
 *
 * @throws that failure.
 */
async function allOrAbort(
  tasks: readonly Promise<unknown>[],
  ended: AbortController,
): Promise<void> {
  for (const task of tasks) task.catch((error: unknown) => ended.abort(error));
  await Promise.allSettled(tasks);
  ended.signal.throwIfAborted();
}

interface OpenEngine {
  /** Its own address. */
  endpoint: string;
  /** How other programs reach it. */
  access: { endpoint: string; accessKeyId: string };
}

/** Finds or starts a DynamoDB engine. One that was started is stopped with the rest. */
async function openEngine(
  { dynamodbEndpoint, db }: LocalStackOptions,
  started: AsyncDisposableStack,
  ended: AbortController,
): Promise<OpenEngine> {
  if (dynamodbEndpoint !== undefined) {
    const endpoint = await checkEndpoint(dynamodbEndpoint);
    return { endpoint, access: { endpoint, accessKeyId: dummyCredentials.accessKeyId } };
  }
  if (db !== undefined) started.defer(await lockDatabase(db));
  const engine = await startEngine(db);
  engine.ended.then(() => ended.abort(new CommandError("The DynamoDB engine ended unexpectedly")));
  started.defer(engine.stop);
  const proxy = await startEngineProxy(engine.endpoint);
  started.defer(proxy.close);
  return { endpoint: engine.endpoint, access: proxy };
}

/** @throws CommandError in one line for a failed call to the engine, on a full disk for example. */
function throwEngineFailure(endpoint: string, ended: AbortSignal, error: unknown): never {
  // The engine's own end says more than the call that failed with it.
  ended.throwIfAborted();
  const speaksForItself = error instanceof CommandError;
  if (speaksForItself || !(error instanceof Error)) throw error;
  const [reason] = (error.message || error.name).split("\n");
  throw new CommandError(`The DynamoDB engine at ${endpoint} failed: ${reason}`, { cause: error });
}
