import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type DynamoDBClient, TransactWriteItemsCommand } from "@aws-sdk/client-dynamodb";
import { seedOrders } from "../../infra/tools/local/engine/tables.ts";
import { batches } from "../../infra/tools/orders-file/batches.ts";
import { formatOrderLine } from "../../infra/tools/orders-file/order-line.ts";
import { checkOrders } from "../../infra/tools/orders-file/orders-file.ts";
import type { OrderItem } from "../../shared/order.ts";
import { createTable } from "../helpers/create-table.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { ordersFrom } from "./orders.ts";
import { besides, figure } from "./row.ts";
import { inTurn, median, timed } from "./samples.ts";
import type { Subject } from "./subject.ts";

/** Measures `npm start`, and how it loads orders. */
export async function start(subject: Subject) {
  const { npm } = await inTurn(3, ["npm"], secondsUntilReady);
  return [figure("npm start to ready", median(npm), "s"), ...(await loading(subject))];
}

async function secondsUntilReady() {
  const begun = performance.now();
  const npm = spawn("npm", ["start", "--", "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let seconds: number | undefined;
  for await (const line of createInterface(npm.stdout)) {
    if (!line.startsWith("{")) continue;
    seconds = (performance.now() - begun) / 1000;
    npm.kill();
  }
  if (seconds === undefined) throw new Error("npm start ended before it was ready");
  return seconds;
}

const loaded = 50_000;
const bareTransactions = "bare transactions";

/** Checks and writes a file of orders, beside bare transactions as large. */
async function loading({ client }: Subject) {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "orders");
  const orders = ordersFrom(0, loaded);
  await writeFile(file, orders.map(formatOrderLine).join("\n"));
  let tables = 0;
  const samples = await inTurn(1, ["ours", bareTransactions], async (name) => {
    const table = `Loaded${++tables}`;
    await createTable(client, "orders", table);
    return await timed(async () => {
      if (name === bareTransactions) return await writeBare(client, table, orders);
      using checked = await checkOrders(file);
      const items = checked.read().map(({ item }) => item);
      await seedOrders(client, table, batches(items), new AbortController().signal);
    });
  });
  return besides("npm start --orders, loading 50,000", samples);
}

async function writeBare(client: DynamoDBClient, TableName: string, orders: OrderItem[]) {
  const ConditionExpression = "attribute_not_exists(id)";
  const transactions = batches(orders);
  const worker = async () => {
    for await (const batch of transactions) {
      const TransactItems = batch.map((Item) => ({
        Put: { TableName, Item, ConditionExpression },
      }));
      await client.send(new TransactWriteItemsCommand({ TransactItems }));
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}
