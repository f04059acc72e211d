import { join } from "node:path";
import { batches } from "../orders-file/batches.ts";
import { checkOrders } from "../orders-file/orders-file.ts";
import { engineClient } from "../running-stacks/engine-client.ts";
import { dummyCredentials } from "../running-stacks/local-account.ts";
import { CommandError } from "../terminal/errors.ts";
import { lockDatabase } from "./engine/database-lock.ts";
import { startEngine } from "./engine/engine.ts";
import { checkEndpoint, requireEngine } from "./engine/external-engine.ts";
import { createTables, prepareTables } from "./engine/tables.ts";
import { createApiServer } from "./gateway/api-server.ts";
import type { GatewayOptions } from "./gateway/gateway.ts";
import type { LambdaHostOptions } from "./lambda/lambda-host.ts";
import { withLoadProgress } from "./load-progress.ts";
import { listen } from "./machine/ports.ts";
import { createLiveService, openService } from "./service.ts";
import { watchSources } from "./source-watch.ts";
import { issueStartKey } from "./start-key.ts";
import type { SynthesisedStack } from "./template/synthesis.ts";

export interface LocalStackOptions extends Partial<GatewayOptions & LambdaHostOptions> {
  /** 3000 unless given; 0 picks a free one. */
  port?: number;
  /**
   * NDJSON for a new table of orders; a few sample orders unless given. An existing table stays as
   * it is.
   */
  orders?: string;
  /** Where the embedded engine keeps its data; in memory unless given. */
  db?: string;
  /** A DynamoDB engine to use instead of the embedded one. */
  dynamodbEndpoint?: string | undefined;
  /** A key for this start, well-formed; a new one unless given. */
  apiKey?: string;
  /** Whether to build again when the sources change. */
  watch?: boolean;
  /**
   * Aborts the start. Once the stack runs, it aborts when the stack stops, or when its engine ends
   * unexpectedly: then the reason is a CommandError.
   */
  ending?: AbortController;
}

/** The service on this machine: the synthesised template and its bundles over a DynamoDB engine. */
export type LocalStack = Awaited<ReturnType<typeof startLocalStack>>;

const { accessKeyId } = dummyCredentials;
const sampleOrders = join(import.meta.dirname, "sample-orders.ndjson");

/**
 * Starts the service on this machine.
 *
 * @param running ends everything that was started, even if the start fails.
 * @param build synthesises the stack to serve. Builds may share a directory: CDK names a bundle by
 * its hash, so no build overwrites another's.
 * @throws CommandError when something is wrong that a person can put right.
 */
export async function startLocalStack(
  running: AsyncDisposableStack,
  build: (signal: AbortSignal) => Promise<SynthesisedStack>,
  options: LocalStackOptions = {},
) {
  const {
    ending = new AbortController(),
    log = (line) => process.stderr.write(`${forTerminal(line)}\n`),
    orders: path = sampleOrders,
  } = options;
  const { signal } = ending;

  // First, so that a taken port is found at once; requests wait until the service can serve them.
  const service = createLiveService();
  const { port, close } = await listen(
    options.port ?? 3000,
    service.serve,
    createApiServer,
  );
  running.defer(close);

  // The build comes last, as it takes longest.
  const dynamodbEndpoint = await openEngine(options, running, ending);
  using checked = await checkOrders(path, () => signal.throwIfAborted());
  log("Building the service...");
  const firstBuild = await build(signal);

  const client = engineClient(dynamodbEndpoint);
  running.defer(() => client.destroy());
  const orders = batches(withLoadProgress(checked, log));
  // Stacks may share an external engine, so the port tells their keys apart.
  const keyName =
    options.dynamodbEndpoint === undefined ? "npm start" : `npm start, port ${port}`;
  const { template } = firstBuild;
  const tables = {
    orders: template.output("OrdersTableName"),
    apiKeys: template.output("ApiKeysTableName"),
  };
  const prepare = async () => {
    const resources = template.all("AWS::DynamoDB::Table");
    return {
      hasNewTables: await prepareTables(client, resources, tables, orders, signal),
      apiKey: await issueStartKey(client, tables.apiKeys, keyName, options.apiKey),
    };
  };
  const data = await prepare().catch((error: Error) => {
    // The engine's own end says more than the call that failed with it.
    signal.throwIfAborted();
    if (error instanceof CommandError) throw error;
    const reason = error.message || error.name;
    throw new CommandError(
      `The DynamoDB engine at ${dynamodbEndpoint} failed: ${reason}`,
    );
  });

  /** Serves a build. @returns the path of its API. */
  const use = async (built: SynthesisedStack) => {
    const opened = openService(built, dynamodbEndpoint, data.apiKey, { ...options, log });
    await createTables(client, built.template.all("AWS::DynamoDB::Table"));
    service.use(opened);
    return opened.basePath;
  };
  const basePath = await use(firstBuild);
  running.defer(service.stop);
  if (options.watch) {
    const rebuild = async () => await use(await build(signal));
    const watching = watchSources(rebuild, signal, log);
    running.defer(() => watching);
  }
  running.defer(() => ending.abort(new CommandError("The local stack has stopped")));

  /** How other programs reach the service and its tables. */
  const connection = {
    /** Like `http://localhost:3000/v1`. */
    baseUrl: `http://localhost:${port}${basePath}`,
    dynamodbEndpoint,
    accessKeyId,
    tables,
  };
  // `data`: a key for this start, and whether the tables are new: then they hold its orders.
  return { ...data, ...connection, client, connection };
}

/** Finds or starts a DynamoDB engine. One that was started is stopped with the rest. */
async function openEngine(
  { dynamodbEndpoint, db }: LocalStackOptions,
  running: AsyncDisposableStack,
  ending: AbortController,
) {
  if (dynamodbEndpoint !== undefined) {
    const endpoint = checkEndpoint(dynamodbEndpoint);
    await requireEngine(endpoint);
    return endpoint;
  }
  if (db !== undefined) running.defer(await lockDatabase(db));
  const { endpoint, ended, stop } = await startEngine(db);
  ended.then(() =>
    ending.abort(new CommandError("The DynamoDB engine ended unexpectedly")),
  );
  running.defer(stop);
  return endpoint;
}

/**
 * A line of a log as a terminal shows it. A rejected key is logged as an error, with a stack trace,
 * because Lambda's runtime logs whatever an authorizer throws; here it is a client's mistake.
 */
export function forTerminal(line: string): string {
  const isRejectedKey = line.includes('"errorMessage":"Unauthorized"');
  return isRejectedKey ? "Rejected a key that is unknown, expired or revoked: 401" : line;
}
