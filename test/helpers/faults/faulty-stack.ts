import { type AttributeValue, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { engineClient, startEngine } from "../../../infra/local/engine/engine.ts";
import type { LocalStackOptions } from "../../../infra/local/local-stack.ts";
import { tableWriter } from "../table-writer.ts";
import { startTestStack, type TestStack } from "../test-stack.ts";
import {
  type Behaviour,
  type EngineCall,
  type FaultProxy,
  startFaultProxy,
} from "./fault-proxy.ts";

/**
 * A test stack whose functions reach their engine through a fault proxy. The test's own calls
 * bypass it.
 */
export interface FaultyStack extends TestStack {
  proxy: FaultProxy;
  /** The order as the table has it. */
  order(id: string): Promise<Record<string, AttributeValue> | undefined>;
  /** The lines that the functions have logged with this event, oldest first. */
  events(event: string): LoggedEvent[];
}

/** @see log.ts of the service for an event's fields. */
interface LoggedEvent {
  level: string;
  message: { event: string };
}

/** @param choose decides what happens to each call of the functions; undefined passes it on. */
export async function startFaultyStack(
  choose: (call: EngineCall) => Behaviour | undefined,
  options: LocalStackOptions = {},
): Promise<FaultyStack> {
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
    order: async (id) =>
      (await client.send(new GetItemCommand({ TableName, Key: { id: { N: id } } }))).Item,
    events: (event) =>
      // Functions log JSON.
      stack.log
        .filter((line) => line.startsWith("{"))
        .map((line): LoggedEvent => JSON.parse(line))
        .filter(({ message }) => message?.event === event),
    stop: () => running.disposeAsync(),
  };
}
