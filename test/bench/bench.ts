import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat, writeFile } from "node:fs/promises";
import { cpus, release, type } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { readFunctions } from "../../infra/local/functions.ts";
import type { FunctionDefinition } from "../../infra/local/lambda/runtime-process.ts";
import { Script } from "../../infra/terminal/script.ts";
import { chart } from "./chart.ts";
import { coldStarts } from "./cold-start.ts";
import { type Growth, growthRows, growthTable, listCost, listGrowth } from "./list.ts";
import { markdown, writeTables } from "./page.ts";
import { startPageServer } from "./page-server.ts";
import { figureRow, goals, type Row, table, verdict } from "./row.ts";
import { median } from "./samples.ts";
import { prepare, putOrders, type Subject } from "./subject.ts";
import { warmCancel } from "./warm-cancel.ts";

const { write } = new Script("npm run bench --")
  .description(
    "Measures the service beside the least work that could do the same, in one run. " +
      "Exits with 1 when a goal is missed.",
  )
  .option("--write", "put the figures into test/bench/README.md, and draw its chart")
  .parse()
  .opts<{ write?: true }>();

/**
 * How many orders are listed for each length of list. At least twice the longest: the first list
 * starts the process, and is not measured.
 */
const listedInAll = 2_000_000;

async function measure(subject: Subject): Promise<Row[]> {
  const rows = await Promise.all(Object.values(subject.functions).map(bundleSize));
  progress("cold starts");
  rows.push(...(await coldStarts(subject)));
  progress("warm cancel");
  rows.push(...(await warmCancel(subject)));
  progress("filling the table with 100,000 orders");
  await putOrders(subject.client, subject.ordersTable, 0, 100_000);
  progress("lists of 100,000 orders");
  rows.push(...(await listCost(subject, "100,000")));
  return rows;
}

/** The kilobytes (1024 bytes) of a function's bundle, minified, the SDK included. */
async function bundleSize({ name, directory }: FunctionDefinition): Promise<Row> {
  const { size } = await stat(join(directory, "index.mjs"));
  return figureRow(`bundle of ${name}`, size / 1024, "KB", goals.bundle);
}

/**
 * Measures lists of so many orders. All pages take the same time: the embedded engine's own first
 * page would take longer the more orders there are.
 */
async function measureGrowth({ stack }: Subject, orders: number): Promise<Growth> {
  progress(`lists of ${orders.toLocaleString("en")} orders`);
  const pages = await startPageServer(orders);
  try {
    const listOrders = readFunctions(stack, pages.endpoint).find(
      ({ name }) => name === "ListOrders",
    );
    if (listOrders === undefined) throw new Error("There is no function ListOrders");
    return await listGrowth(listOrders, orders, listedInAll);
  } finally {
    pages.close();
  }
}

/** Seconds from `npm start` to the line that says it is ready. */
async function startTime(): Promise<Row> {
  const samples: number[] = [];
  for (let run = 0; run < 5; run += 1) samples.push(await secondsUntilReady());
  return figureRow("npm start to ready", median(samples), "s", goals.start);
}

async function secondsUntilReady(): Promise<number> {
  const begun = performance.now();
  const npm = spawn("npm", ["start", "--", "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exit = once(npm, "exit");
  try {
    for await (const line of createInterface({ input: npm.stdout })) {
      if (line.startsWith("{")) return (performance.now() - begun) / 1000;
    }
    throw new Error("npm start ended before it was ready");
  } finally {
    npm.kill("SIGTERM");
    await exit;
  }
}

function progress(activity: string): void {
  process.stderr.write(`${activity} ...\n`);
}

const subject = await prepare();
try {
  const rows = await measure(subject);
  const small = await measureGrowth(subject, 10_000);
  const middle = await measureGrowth(subject, 100_000);
  const large = await measureGrowth(subject, 1_000_000);
  progress("npm start");
  rows.push(...growthRows(small, large), await startTime());
  const growth = growthTable(
    new Map([
      [10_000, small],
      [100_000, middle],
      [1_000_000, large],
    ]),
  );
  const processors = `${cpus().length} x ${cpus()[0]?.model.trim()}`;
  console.log(`${processors}, ${type()} ${release()}, Node ${process.versions.node}\n`);
  const tables = [table(rows), growth];
  for (const cells of tables) console.log(`${markdown(cells)}\n`);
  if (rows.some((row) => verdict(row) === "MISSED")) process.exitCode = 1;
  if (write) {
    writeTables(tables);
    await writeFile(new URL("chart.svg", import.meta.url), chart(rows));
  }
} finally {
  await subject.stop();
}
