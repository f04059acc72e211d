import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { engineClient, startEngine } from "../../../infra/local/engine/engine.ts";
import type { LocalStackOptions } from "../../../infra/local/local-stack.ts";
import { tableWriter } from "../table-writer.ts";
import { startTestStack } from "../test-stack.ts";
import { type Choice, startFaultProxy } from "./fault-proxy.ts";

export type FaultyStack = Awaited<ReturnType<typeof startFaultyStack>>;

/** Starts a test stack whose functions, but not the test, call the engine through a proxy. */
export async function startFaultyStack(choose: Choice, options: LocalStackOptions = {}) {
  await using started = new AsyncDisposableStack();
  const engine = await startEngine(options.db);
  started.defer(() => engine.stop());
  const proxy = await startFaultProxy(engine.endpoint, choose);
  started.defer(() => proxy.stop());
  const stack = await startTestStack({ ...options, dynamodbEndpoint: proxy.endpoint });
  started.defer(() => stack.stop());
  const client = engineClient(engine.endpoint);
  started.defer(() => client.destroy());
  const running = started.move();
  const TableName = stack.tables.orders;
  return {
    ...stack,
    ...tableWriter(client, stack.tables),
    proxy,
    order: async (id: string) =>
      (await client.send(new GetItemCommand({ TableName, Key: { id: { N: id } } }))).Item,
    /** The functions' log lines with this event, oldest first. */
    events: (event: string) =>
      // Functions log JSON.
      stack.log
        .filter((line) => line.startsWith("{"))
        .map((line): { level: string; message?: { event: string } } => JSON.parse(line))
        .filter(({ message }) => message?.event === event),
    stop: () => running.disposeAsync(),
  };
}
