import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { shellWord } from "../terminal/text.ts";
import type { LocalStack, LocalStackOptions } from "./local-stack.ts";

/**
 * Says that an orders file was not loaded because the tables exist already, and how to add its
 * orders.
 */
export function notLoadedText(file: string): string {
  return `${file} was not loaded: the tables exist already. To add its orders, run:
  infra/petstore orders import --local ${shellWord(file)}`;
}

/** The output of `petstore start`: where the stack is, and commands to try it with. */
export async function readyText(
  { apiKey, client, connection }: Pick<LocalStack, "apiKey" | "client" | "connection">,
  seconds: number,
  { cut, throttle, unavailable, watch }: LocalStackOptions,
): Promise<string> {
  const { accessKeyId, baseUrl, dynamodbEndpoint, tables } = connection;
  const { pending, shipped } = await exampleIds(client, tables.orders);
  const curl = '  curl -i -H "Authorization: Bearer $API_KEY"';
  const cancel = (id: string) => `${curl} -X DELETE ${baseUrl}/store/orders/${id}`;
  const lines = [
    `The pet store orders service is ready after ${seconds.toFixed(1)} s. Press Ctrl-C to stop it.`,
    watch && "Watching the sources: changes are served within seconds.",
    throttle && `One of ${throttle} requests gets 429 (--throttle).`,
    unavailable &&
      `One of ${unavailable} lists and cancellations gets 503 (--unavailable).`,
    cut && `One of ${cut} lists is cut off midway (--cut).`,
    "",
    `  Base URL  ${baseUrl}`,
    `  Try it    ${new URL("/", baseUrl).href}`,
    `  Tables    ${dynamodbEndpoint}, access key id ${accessKeyId}`,
    "",
    "First, in the shell that calls it:",
    `  export API_KEY=${apiKey}`,
    "List all orders:",
    `${curl} ${baseUrl}/store/orders`,
    pending &&
      `Cancel a pending order (204, then 409 the second time), and see what became of it:
${cancel(pending)}
  infra/petstore orders show --local ${pending}`,
    "Cancel an order that does not exist (404):",
    cancel("none"),
    shipped && `Cancel an order that has shipped (409):\n${cancel(shipped)}`,
  ];
  return `${lines.filter((line) => typeof line === "string").join("\n")}\n\n`;
}

/**
 * The first ids of a pending and a shipped order: not negative, which a shell command would have to
 * quote, and surely 64-bit integers, unlike some of other writers.
 */
async function exampleIds(client: DynamoDBClient, TableName: string) {
  const { Items = [] } = await client.send(new ScanCommand({ TableName, Limit: 1000 }));
  const firstId = (status: string) =>
    Items.filter((order) => order["status"]?.S === status)
      .map(({ id }) => id?.N ?? "")
      .find((id) => /^\d{1,18}$/.test(id));
  return { pending: firstId("pending"), shipped: firstId("shipped") };
}
