/**
 * Measures `orders import` and `orders export` as an operator runs them, against the embedded engine in memory: how
 * fast they are, and how much memory the command line takes. `--orders N` sets how many orders, 20,000 by default.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { engineClient, startEngine } from "../../infra/local/engine/engine.ts";
import { adminCommand, root } from "../helpers/admin/admin-command.ts";
import { createTable } from "../helpers/create-table.ts";

const { values } = parseArgs({ options: { orders: { type: "string", default: "20000" } } });
const count = Number(values.orders);
if (!(Number.isSafeInteger(count) && count > 0)) throw new Error("--orders must be a positive integer");

await using cleanUp = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), "import-export-"));
cleanUp.defer(() => rm(folder, { recursive: true }));
const engine = await startEngine();
cleanUp.defer(() => engine.stop());

const tables = { orders: "Orders", apiKeys: "ApiKeys" };
const stackFile = join(folder, "stack.json");
await createOrdersTable();
await writeFile(stackFile, JSON.stringify([{ baseUrl: "none", dynamodbEndpoint: engine.endpoint, tables }]));
const printPeak = join(folder, "print-peak.cjs");
await writeFile(printPeak, 'process.on("exit", () => console.error("peak", process.resourceUsage().maxRSS));');

const orders = join(folder, "orders.ndjson");
await pipeline(orderLines(), createWriteStream(orders));
const { size } = await stat(orders);
console.log(`${count.toLocaleString("en")} orders, ${megabytes(size)} of NDJSON`);
await measure("import", orders);
await measure("export", join(folder, "exported.ndjson"));

async function createOrdersTable(): Promise<void> {
  const client = engineClient(engine.endpoint);
  await createTable(client, "orders", tables.orders);
  client.destroy();
}

function* orderLines(): Generator<string, void, void> {
  for (let id = 1; id <= count; id++) {
    const dates = `"shipDate":"2026-12-01T09:00:00Z","complete":${id % 2 === 0}`;
    yield `{"id":${id},"petId":${id * 7},"quantity":${id % 9},${dates},"status":"pending"}\n`;
  }
}

/** Runs one command of the command line and prints how long it took, its rate and its peak memory. */
async function measure(command: "import" | "export", file: string): Promise<void> {
  const start = performance.now();
  const child = spawn(process.execPath, [...(await adminCommand()), "orders", command, file, "--local"], {
    cwd: root,
    env: { PATH: process.env["PATH"], LOCAL_STACK_FILE: stackFile, NODE_OPTIONS: `--require ${printPeak}` },
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  const seconds = (performance.now() - start) / 1000;
  const peak = /^peak (\d+)$/m.exec(stderr)?.[1];
  const done = command === "import" ? `${count} written,` : `Exported ${count} `;
  if (code !== 0 || !peak || !stdout.includes(done)) {
    throw new Error(`orders ${command} failed (${code}): ${stdout}${stderr}`);
  }
  const rate = Math.round(count / seconds).toLocaleString("en");
  console.log(`${command}: ${seconds.toFixed(1)} s, ${rate} orders/s, peak ${megabytes(Number(peak) * 1024)}`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
