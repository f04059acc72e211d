import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pseudoParameters } from "../../infra/local/template/local-account.ts";
import { adminCommand, root } from "../helpers/admin-command.ts";
import { createTable } from "../helpers/create-table.ts";
import { besides, type Measured, sdkAlone } from "./row.ts";
import { timed } from "./samples.ts";
import { orderLine, type Subject } from "./subject.ts";

const floor = fileURLToPath(new URL("floor/sdk/operators.mjs", import.meta.url));
const tables = { ours: "OperatorsOrders", floor: "FloorOrders" };

/**
 * Imports, exports and ships 100,000 orders as an operator does. Each command stands beside a
 * process that keeps the same promises by calls of the SDK, as many at once.
 */
export async function operators({ client, engine }: Subject): Promise<Measured[]> {
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "pet-store-orders-bench-"));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const pathOf = (name: string) => join(folder, name);

  const stack = {
    baseUrl: "http://localhost:1/v1",
    dynamodbEndpoint: engine.endpoint,
    accessKeyId: "local",
    tables: { orders: tables.ours, apiKeys: "none" },
  };
  const ids = Array.from({ length: 100_000 }, (_, id) => id);
  await writeFile(pathOf("stack.json"), JSON.stringify([stack]));
  await writeFile(pathOf("orders"), ids.map(orderLine).join("\n"));
  await writeFile(pathOf("ids"), ids.join("\n"));
  for (const table of Object.values(tables)) await createTable(client, "orders", table);

  const env = {
    ...process.env,
    LOCAL_STACK_FILE: pathOf("stack.json"),
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    AWS_REGION: pseudoParameters["AWS::Region"],
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const admin = await adminCommand();
  const beside = async (command: string, ...args: string[]): Promise<Measured[]> => {
    const ours = await seconds([...admin, "orders", command, "--local", ...args], env);
    const alone = await seconds([floor, command, tables.floor, args.at(-1) ?? ""], env);
    return besides(`orders ${command} of 100,000`, { ours: [ours], [sdkAlone]: [alone] }, "s");
  };
  return [
    ...(await beside("import", pathOf("orders"))),
    ...(await beside("export", pathOf("exported"))),
    ...(await beside("ship", "--file", pathOf("ids"))),
  ];
}

/** How long a program takes. */
async function seconds(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const milliseconds = await timed(async () => {
    const program = spawn(process.execPath, args, {
      cwd: root,
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [code] = await once(program, "exit");
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  });
  return milliseconds / 1000;
}
