import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { isInt64 } from "../../shared/order.ts";
import { shellWord } from "../terminal/npm-options.ts";
import { engineClient } from "./engine/engine.ts";
import type { LocalStack, LocalStackOptions } from "./local-stack.ts";

type Where = Pick<LocalStack, "apiKey" | "baseUrl" | "dynamodb" | "dynamodbEndpoint" | "tables">;

/** The options that change how the service behaves. */
type Behaviour = Pick<LocalStackOptions, "cut" | "throttle" | "unavailable" | "watch">;

/**
 * Says that an orders file was not loaded because the tables exist already, and how to add its
 * orders.
 */
export function notLoadedText(file: string): string {
  return `${file} was not loaded: the tables exist already. To add its orders, run:
  npm run admin -- orders import --local ${shellWord(file)}`;
}

/** The output of `npm start`: where the stack is, and commands to try it with. */
export async function readyText(
  stack: Where,
  seconds: string,
  { cut, throttle, unavailable, watch }: Behaviour = {},
): Promise<string> {
  const { baseUrl, apiKey, dynamodb, dynamodbEndpoint, tables } = stack;
  const client = engineClient(dynamodbEndpoint);
  const { Items = [] } = await client.send(
    new ScanCommand({ TableName: tables.orders, Limit: 1000 }),
  );
  client.destroy();
  // Another writer may have used an id that no client can name.
  const orders = Items.filter(({ id }) => isInt64(id?.N ?? "")).map(({ id, status }) => ({
    id: BigInt(id?.N ?? 0),
    status: status?.S,
  }));
  // As unsigned numbers, negative ids come after all others.
  orders.sort((a, b) => (BigInt.asUintN(64, a.id) < BigInt.asUintN(64, b.id) ? -1 : 1));
  const pending = orders.find(({ status }) => status === "pending");
  const shipped = orders.find(({ status }) => status === "shipped");
  const curl = '  curl -i -H "Authorization: Bearer $API_KEY"';
  const cancel = (id: bigint | string): string => `${curl} -X DELETE ${baseUrl}/store/orders/${id}`;
  const lines = [
    `The pet store orders service is ready after ${seconds} s. Press Ctrl-C to stop it.`,
  ];
  if (watch) lines.push("Watching the sources: changes are served within seconds.");
  if (throttle) lines.push(`One of ${throttle} requests gets 429 (--throttle).`);
  if (unavailable)
    lines.push(`One of ${unavailable} lists and cancellations gets 503 (--unavailable).`);
  if (cut) lines.push(`One of ${cut} lists is cut off midway (--cut).`);
  lines.push(
    "",
    `  Base URL  ${baseUrl}`,
    `  Try it    ${new URL("/", baseUrl).href}`,
    `  Tables    ${dynamodb.endpoint}, access key id ${dynamodb.accessKeyId}`,
    "",
    "First, in the shell that calls it:",
    `  export API_KEY=${apiKey}`,
    "List all orders:",
    `${curl} ${baseUrl}/store/orders`,
  );
  if (pending)
    lines.push(
      "Cancel a pending order (204, then 409 the second time), and see what became of it:",
      cancel(pending.id),
      `  npm run -s admin -- orders show --local ${pending.id}`,
    );
  lines.push("Cancel an order that does not exist (404):", cancel("none"));
  if (shipped) lines.push("Cancel an order that has shipped (409):", cancel(shipped.id));
  return `${lines.join("\n")}\n\n`;
}
