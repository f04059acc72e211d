import { cpus, release, type } from "node:os";
import { Command } from "commander";
import { readFunctions } from "../../infra/local/functions.ts";
import { bundleSizes } from "./bundle-size.ts";
import { coldStartChart, listChart, writeChart } from "./charts.ts";
import { coldStarts } from "./cold-start.ts";
import { closeConnection } from "./dynamodb-http.ts";
import { growthRows, growthTable } from "./growth-table.ts";
import { type Growth, listCost, listGrowth } from "./list.ts";
import { markdown } from "./markdown.ts";
import { startPageServer } from "./page-server.ts";
import { conclude, type Row, table } from "./row.ts";
import { prepare, putOrders, type Subject } from "./subject.ts";
import { warmCancel } from "./warm-cancel.ts";
import { startTime, throughput } from "./whole-stack.ts";

const { json } = new Command("npm run bench --")
  .description(
    "Measures the service beside what nothing could undercut, in one run. Exits with 1 when a bound is missed.",
  )
  .option("--json", "print the figures for scripts")
  .parse()
  .opts<{ json?: true }>();

const sizes = [10_000, 100_000, 1_000_000];

/** At least twice the longest list: the first of each starts the process. */
const listedInAll = 2_000_000;

async function measure(subject: Subject): Promise<{ rows: Row[]; growth: Map<number, Growth> }> {
  const rows = await bundleSizes(Object.values(subject.functions));
  progress("cold starts");
  rows.push(...(await coldStarts(subject)));
  progress("warm cancel");
  rows.push(...(await warmCancel(subject)));
  progress("filling the table with 100,000 orders");
  await putOrders(subject.client, subject.ordersTable, 0, 100_000);
  progress("lists of 100,000 orders");
  rows.push(...(await listCost(subject, "100,000")));
  const growth = await measureGrowth(subject);
  rows.push(...growthRows(growth));
  progress("the whole stack");
  rows.push(await throughput(), await startTime());
  return { rows, growth };
}

/** With pages that all take the same time: the embedded engine's own first page takes longer the more there are. */
async function measureGrowth({ stack }: Subject): Promise<Map<number, Growth>> {
  const pages = await startPageServer();
  try {
    const listOrders = readFunctions(stack, pages.endpoint).find(({ name }) => name === "ListOrders");
    if (listOrders === undefined) throw new Error("There is no function ListOrders");
    const growth = new Map<number, Growth>();
    for (const size of sizes) {
      progress(`lists of ${size.toLocaleString("en")} orders`);
      pages.orders = size;
      growth.set(size, await listGrowth(listOrders, size, listedInAll));
    }
    return growth;
  } finally {
    pages.close();
  }
}

function progress(what: string): void {
  process.stderr.write(`${what} ...\n`);
}

const subject = await prepare();
try {
  const { rows, growth } = await measure(subject);
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, ${type()} ${release()}, Node ${process.versions.node}`;
  const figures = json
    ? JSON.stringify({ machine, rows, growth: Object.fromEntries(growth) })
    : `${machine}\n\n${markdown(table(rows))}\n\n${markdown(growthTable(growth))}`;
  conclude(figures, rows);
  const cold = coldStartChart(table(rows));
  if (cold !== undefined) writeChart("cold-start", cold);
  writeChart("list", listChart(growthTable(growth)));
} finally {
  closeConnection();
  await subject.stop();
}
