import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { formatOrderLine } from "../../infra/tools/orders-file/order-line.ts";
import { region } from "../../infra/tools/running-stacks/local-account.ts";
import { petstore, root } from "../helpers/admin-command.ts";
import { createTable } from "../helpers/create-table.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { idsOf, ordersFrom } from "./orders.ts";
import { besides, sdkAlone } from "./row.ts";
import { timed } from "./samples.ts";
import type { Subject } from "./subject.ts";

const floor = fileURLToPath(new URL("floor/sdk/operators.mjs", import.meta.url));
const tables = { ours: "OperatorsOrders", floor: "FloorOrders" };
const count = 100_000;

/** Imports, exports and ships 100,000 orders as an operator does. */
export async function operators({ client, endpoint }: Subject) {
  await using folder = await temporaryFolder();
  const pathOf = (name: string) => join(folder.path, name);
  const stack = {
    startedAt: 0,
    baseUrl: "http://localhost:1/v1",
    dynamodbEndpoint: endpoint,
    accessKeyId: "local",
    tables: { orders: tables.ours, apiKeys: "none" },
  };
  await writeFile(pathOf("1.json"), JSON.stringify(stack));
  const orders = ordersFrom(0, count);
  await writeFile(pathOf("orders"), orders.map(formatOrderLine).join("\n"));
  await writeFile(pathOf("ids"), idsOf(orders).join("\n"));
  for (const table of Object.values(tables)) await createTable(client, "orders", table);

  const env = {
    ...process.env,
    LOCAL_STACKS: folder.path,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const seconds = async (...args: string[]) => {
    const options = { cwd: root, env, maxBuffer: Number.POSITIVE_INFINITY };
    const time = await timed(() => promisify(execFile)(process.execPath, args, options));
    return [time / 1000];
  };
  const beside = async (command: string, file: string, ...options: string[]) => {
    const words = ["orders", command, "--local", ...options, pathOf(file)];
    const samples = {
      ours: await seconds(...petstore, ...words),
      [sdkAlone]: await seconds(floor, command, tables.floor, pathOf(file)),
    };
    return besides(`orders ${command} of 100,000`, samples, "s");
  };
  return [
    ...(await beside("import", "orders")),
    ...(await beside("export", "exported")),
    ...(await beside("ship", "ids", "--file")),
  ];
}
