import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
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
import { inTurn, sampleOf } from "./samples.ts";
import type { Subject } from "./subject.ts";

const floor = fileURLToPath(new URL("floor/sdk/operators.mjs", import.meta.url));
const tables = { ours: "OperatorsOrders", floor: "FloorOrders" };
const run = promisify(execFile);
const rounds = 3;
const perRound = 25_000;

/** Imports, exports and ships orders as an operator does. */
export async function operators({ client, endpoint }: Subject) {
  await using folder = await temporaryFolder();
  const pathOf = (name: string) => join(folder.path, name);
  const stack = {
    startedAt: 0,
    baseUrl: "http://localhost:1/v1",
    dynamodbEndpoint: endpoint,
    tables: { orders: tables.ours, apiKeys: "none" },
  };
  await writeFile(pathOf("1.json"), JSON.stringify(stack));
  for (let round = 0; round <= rounds; round += 1) {
    const orders = ordersFrom(round * perRound, perRound);
    await writeFile(pathOf(`orders${round}`), orders.map(formatOrderLine).join("\n"));
    await writeFile(pathOf(`ids${round}`), idsOf(orders).join("\n"));
  }
  for (const table of Object.values(tables)) await createTable(client, "orders", table);

  const env = {
    ...process.env,
    LOCAL_STACKS: folder.path,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const options = { cwd: root, env, maxBuffer: Number.POSITIVE_INFINITY };
  const inTurns = (command: string, file: string, ...words: string[]) =>
    inTurn(rounds, ["ours", sdkAlone], (name, round) => {
      const path = pathOf(`${file}${round}`);
      const ours = [...petstore, "orders", command, "--local", ...words, path];
      const args = name === "ours" ? ours : [floor, command, tables.floor, path];
      return sampleOf(() => run(process.execPath, args, options), childrenCpu);
    });
  const imports = await inTurns("import", "orders");
  const exports = await inTurns("export", "exported");
  const ships = await inTurns("ship", "ids", "--file");
  return [
    ...besides("orders import of 25,000", "time", imports),
    ...besides("orders export of 100,000", "time", exports),
    ...besides("orders export of 100,000", "CPU", exports),
    ...besides("orders ship of 25,000", "time", ships),
  ];
}

/** Milliseconds of CPU that the processes had which this one has started and which have ended. */
function childrenCpu() {
  const fields = readFileSync("/proc/self/stat", "utf8").split(" ");
  return 10 * (Number(fields[15]) + Number(fields[16]));
}
