// `npm run load` lists and cancels as fast as responses come, and checks every response.
// `npm run soak` does so for ten minutes, and fails if the memory or handles of a process have
// grown from the second third of the run to the last.
import { readdir, readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { engineClient } from "../../infra/local/engine/engine.ts";
import { seedOrders } from "../../infra/local/engine/seed-orders.ts";
import type { LocalStack } from "../../infra/local/local-stack.ts";
import { Script } from "../../infra/terminal/script.ts";
import { errorBody } from "../../shared/errors.ts";
import type { OrderItem } from "../../shared/order.ts";
import { functionProcesses, ps } from "../helpers/processes.ts";
import { tableWriter } from "../helpers/table-writer.ts";
import { ResponseCounts } from "./traffic/response-counts.ts";
import { runTraffic } from "./traffic/run-traffic.ts";

const { connections, seconds, orders, watch } = new Script("npm run load --")
  .option(
    "--connections <number>",
    "how many requests are sent at once, in groups of five",
    Number,
    100,
  )
  .option("--seconds <number>", "how long to send them", Number, 30)
  .option("--orders <number>", "how many orders to list and cancel", Number, 2_000)
  .option("--watch", "watch the memory and the handles of each process (on Linux)")
  .parse()
  .opts<{ connections: number; seconds: number; orders: number; watch?: true }>();

/** How many requests try to cancel one order. One more lists, at the same time. */
const rivals = 4;
// With seven digits, of which the first is 1: `list` counts such ids.
const firstId = 1_000_000;

const counts = new ResponseCounts();
const wrong: string[] = [];

await runTraffic(async (stack) => {
  const client = engineClient(stack.dynamodbEndpoint);
  const { putOrder, putKey } = tableWriter(client, stack.tables);
  const rivalKeys = Array.from({ length: rivals }, (_, rival) =>
    putKey({ keyId: `rival_${rival}` }),
  );
  const keys = await Promise.all(rivalKeys);
  const pending = Array.from({ length: orders }, (_, index) => firstId + index);
  const items = Readable.from(pending.map(pendingOrder));
  await seedOrders(client, stack.tables.orders, items, new AbortController().signal);

  const end = performance.now() + seconds * 1000;
  const sendGroups = async (): Promise<void> => {
    while (performance.now() < end) {
      const id = pending.shift();
      if (id === undefined) throw new Error("There are more groups of requests than orders");
      await Promise.all([list(stack), contest(stack, id, keys)]).catch((error) =>
        wrong.push(`A request failed: ${error}`),
      );
      await putOrder(pendingOrder(id));
      pending.push(id);
    }
  };
  const usages = watch ? watchProcesses(end) : Promise.resolve([]);
  const groupsAtOnce = Math.ceil(connections / (rivals + 1));
  await Promise.all(Array.from({ length: groupsAtOnce }, sendGroups));
  client.destroy();
  for (const usage of await usages) checkGrowth(usage);
  return { counts, wrong };
});

/** Lists all orders while they are being cancelled. */
async function list(stack: LocalStack): Promise<void> {
  const { status, body } = await send(stack, "GET", "/store/orders", stack.apiKey);
  const ids = new Set(body.match(/"id":1\d{6}\b/g));
  if (status === 200 && Array.isArray(JSON.parse(body)) && ids.size === orders) return;
  wrong.push(`A list of ${ids.size} instead of ${orders}: ${status} ${body.slice(0, 200)}`);
}

/** Cancels one order with every key at once: one of them gets the 204, and the others the 409. */
async function contest(stack: LocalStack, id: number, keys: string[]): Promise<void> {
  const responses = await Promise.all(
    keys.map((key) => send(stack, "DELETE", `/store/orders/${id}`, key)),
  );
  const won = responses.filter(({ status, body }) => status === 204 && body === "");
  const lost = responses.filter(
    ({ status, body }) => status === 409 && body === errorBody("order_already_cancelled"),
  );
  if (won.length === 1 && lost.length === rivals - 1) return;
  wrong.push(
    `Cancelling ${id}: ${responses.map(({ status, body }) => `${status} ${body}`).join(", ")}`,
  );
}

async function send({ baseUrl }: LocalStack, method: string, path: string, apiKey: string) {
  const headers = { authorization: `Bearer ${apiKey}`, "accept-encoding": "identity" };
  const response = await fetch(baseUrl + path, { method, headers });
  const received = { status: response.status, body: await response.text() };
  counts.add(received);
  return received;
}

function pendingOrder(id: number): OrderItem {
  return { id: { N: String(id) }, petId: { N: "1" }, status: { S: "pending" } };
}

/** A measure of a process, sampled over a run. */
interface Usage {
  name: string;
  samples: number[];
  /** How far its last third may exceed its second, on top of a tenth. */
  allowed: number;
}

/** Samples every process 60 times, evenly over the run. */
async function watchProcesses(end: number): Promise<Usage[]> {
  const usages = new Map<string, Usage>();
  const add = (name: string, allowed: number, sample: number): void => {
    const usage = usages.get(name) ?? { name, samples: [], allowed };
    usage.samples.push(sample);
    usages.set(name, usage);
  };
  for (let left = 60; left > 0; left -= 1) {
    await wait(Math.max(0, end - performance.now()) / left);
    const gateway = { name: "the gateway", pid: process.pid };
    for (const { name, pid } of [gateway, ...(await functionProcesses())]) {
      add(`megabytes of ${name} (${pid})`, 5, Math.round(await residentMegabytes(pid)));
      add(`handles of ${name} (${pid})`, 2, (await readdir(`/proc/${pid}/fd`)).length);
    }
  }
  return [...usages.values()];
}

function checkGrowth({ name, samples, allowed }: Usage): void {
  const third = Math.floor(samples.length / 3);
  const before = median(samples.slice(third, -third));
  const after = median(samples.slice(-third));
  const line = `${name}: ${before} in the second third, ${after} in the last`;
  console.log(line);
  if (after > 1.1 * before + allowed) wrong.push(line);
}

function median(samples: number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
}

/** The resident memory of a process. */
async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => undefined);
  const kilobytes =
    status === undefined
      ? await ps("-p", `${pid}`, "-o", "rss=")
      : /VmRSS:\s+(\d+)/.exec(status)?.[1];
  return Number(kilobytes) / 1024;
}
