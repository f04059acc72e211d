import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { OrderStatus } from "../../shared/order.ts";
import { engineClient } from "./engine/engine.ts";
import type { LocalStack } from "./local-stack.ts";

/** The output of `npm start -- --json`: where the stack is, in one line of JSON. */
export function readyLine({ baseUrl, apiKey, dynamodbEndpoint, tables }: LocalStack): string {
  return `${JSON.stringify({ baseUrl, apiKey, dynamodbEndpoint, tables })}\n`;
}

/** Says that an orders file was not loaded because the tables exist already, and how to add its orders. */
export function notLoadedText(file: string): string {
  const argument = /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
  return [
    `${file} was not loaded: the tables exist already. To add its orders, run:`,
    `  npm run admin -- orders import --local ${argument}`,
  ].join("\n");
}

/** The output of `npm start`: where the stack is, and commands to try it with. */
export async function readyText(stack: LocalStack, seconds: string): Promise<string> {
  const { baseUrl, apiKey, dynamodbEndpoint, tables } = stack;
  const client = engineClient(dynamodbEndpoint);
  const pending = await exampleOrderId(client, tables.orders, "pending");
  const shipped = await exampleOrderId(client, tables.orders, "shipped");
  client.destroy();
  const curl = `  curl -i -H "Authorization: Bearer ${apiKey}"`;
  const cancel = (id: string): string => `${curl} -X DELETE ${baseUrl}/store/orders/${id}`;
  return [
    `The pet store orders service is ready after ${seconds} s. Press Ctrl-C to stop it.`,
    "",
    `  Base URL  ${baseUrl}`,
    `  API key   ${apiKey}`,
    `  Try it    ${new URL("/", baseUrl).href}`,
    "",
    "List all orders:",
    `${curl} ${baseUrl}/store/orders`,
    ...(pending === undefined ? [] : ["Cancel a pending order (204, then 409 the second time):", cancel(pending)]),
    "Cancel an order that does not exist (404):",
    cancel("none"),
    ...(shipped === undefined ? [] : ["Cancel an order that has shipped (409):", cancel(shipped)]),
    "",
    "",
  ].join("\n");
}

/** The id of an order with this status: the smallest positive one among the first 1,000 orders of the table. */
async function exampleOrderId(client: DynamoDBClient, table: string, status: OrderStatus): Promise<string | undefined> {
  const scan = new ScanCommand({
    TableName: table,
    ProjectionExpression: "id",
    FilterExpression: "#status = :status",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: { ":status": { S: status } },
    Limit: 1000,
  });
  const { Items = [] } = await client.send(scan);
  const ids = Items.flatMap(({ id }) => (id?.N === undefined ? [] : [BigInt(id.N)]));
  const [smallest] = ids.filter((id) => id > 0n).sort((a, b) => (a < b ? -1 : 1));
  return (smallest ?? ids[0])?.toString();
}
