import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { startEngine } from "../../../infra/tools/local/engine/engine.ts";
import type { LocalStackOptions } from "../../../infra/tools/local/local-stack.ts";
import { engineClient } from "../../../infra/tools/running-stacks/engine-client.ts";
import { tableWriter } from "../table-writer.ts";
import { startTestStack } from "../test-stack.ts";
import { type Choice, startFaultProxy } from "./fault-proxy.ts";

export type FaultyStack = Awaited<ReturnType<typeof startFaultyStack>>;

/** Starts a test stack whose functions, but not the test, call the engine through a proxy. */
export async function startFaultyStack(
  running: AsyncDisposableStack,
  choose: Choice,
  options: LocalStackOptions = {},
) {
  const engine = await startEngine();
  running.defer(engine.stop);
  const proxy = await startFaultProxy(engine.endpoint, choose);
  running.defer(proxy.stop);
  const dynamodbEndpoint = proxy.endpoint;
  const stack = await startTestStack(running, { ...options, dynamodbEndpoint });
  const client = engineClient(engine.endpoint);
  running.defer(() => client.destroy());
  const TableName = stack.tables.orders;
  return {
    ...stack,
    ...tableWriter(client, stack.tables),
    proxy,
    order: async (id: string) =>
      (await client.send(new GetItemCommand({ TableName, Key: { id: { N: id } } }))).Item,
    /** The functions' log lines with this event, oldest first. */
    events: (event: string) =>
      stack.log
        .filter((line) => line.includes(`"event":"${event}"`))
        .map((line) => JSON.parse(line)),
  };
}
