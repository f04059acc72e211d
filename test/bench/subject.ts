import { join } from "node:path";
import { startEngine } from "../../infra/tools/local/engine/engine.ts";
import { createTables, seedOrders } from "../../infra/tools/local/engine/tables.ts";
import { createLambdaHost } from "../../infra/tools/local/lambda/lambda-host.ts";
import {
  type FunctionDefinition,
  readFunctions,
} from "../../infra/tools/local/template/functions.ts";
import { synthesiseStaging } from "../../infra/tools/local/template/synthesis.ts";
import { batches } from "../../infra/tools/orders-file/batches.ts";
import { engineClient } from "../../infra/tools/running-stacks/engine-client.ts";
import { tableWriter } from "../helpers/table-writer.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { buildVariants, type FunctionId, type Variant } from "./floors.ts";
import { idsOf, ordersFrom } from "./orders.ts";

/** The stack that is measured, its bundles, and an engine with its tables. */
export type Subject = Awaited<ReturnType<typeof prepare>>;

export async function prepare(cleanup: AsyncDisposableStack) {
  const { path } = cleanup.use(await temporaryFolder());
  const stack = await synthesiseStaging(join(path, "ours"), new AbortController().signal);
  buildVariants(path);
  const engine = await startEngine();
  cleanup.defer(() => engine.stop());
  const client = engineClient(engine.endpoint);
  cleanup.defer(() => client.destroy());
  await createTables(client, stack.template.all("AWS::DynamoDB::Table"));
  const orders = stack.template.output("OrdersTableName");
  const apiKeys = stack.template.output("ApiKeysTableName");
  const definitions = readFunctions(stack, engine.endpoint);
  return {
    stack,
    endpoint: engine.endpoint,
    client,
    ordersTable: orders,
    apiKey: await tableWriter(client, { orders, apiKeys }).putKey(),
    variantOf: (id: FunctionId, variant: Variant) => {
      const ours = definitions.find(({ name }) => name === id);
      if (ours === undefined) throw new Error(`There is no function ${id}`);
      return variant === "ours" ? ours : { ...ours, directory: join(path, variant, id) };
    },
  };
}

export function withVariables(
  definition: FunctionDefinition,
  variables: Record<string, string>,
) {
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint = definition.endpoint, ...more } =
    variables;
  const Variables = { ...definition.Environment.Variables, ...more };
  return { ...definition, endpoint, Environment: { Variables } };
}

/** A host for these functions, one process each. */
export function hostOf(...definitions: FunctionDefinition[]) {
  const host = createLambdaHost(definitions, { log: () => {}, maxEnvironments: 1 });
  return { ...host, [Symbol.asyncDispose]: host.stop };
}

/** A host for variants of a function, by their names. */
export function hostOfVariants(
  { variantOf }: Subject,
  id: FunctionId,
  variants: readonly Variant[],
  variables = {},
) {
  const definitions = variants.map((name) => ({
    ...withVariables(variantOf(id, name), variables),
    name,
  }));
  return hostOf(...definitions);
}

/** Writes orders into the table, and returns their ids. */
export async function putOrders(
  { client, ordersTable }: Subject,
  first: number,
  count: number,
) {
  const orders = ordersFrom(first, count);
  const { signal } = new AbortController();
  await seedOrders(client, ordersTable, batches(orders), signal);
  return idsOf(orders);
}

// What the functions and the floors read of the gateway's events.
const requestContext = { authorizer: { keyId: "key_bench" } };

export function listEvent(headers = {}) {
  return { httpMethod: "GET", headers, pathParameters: null, requestContext };
}

export function cancelEvent(id: string) {
  const pathParameters = { orderId: id };
  return { httpMethod: "DELETE", headers: {}, pathParameters, requestContext };
}

export function authorizeEvent(apiKey: string) {
  const methodArn =
    "arn:aws:execute-api:us-east-1:000000000000:api/v1/DELETE/store/orders/1";
  return { type: "TOKEN", authorizationToken: `Bearer ${apiKey}`, methodArn };
}
