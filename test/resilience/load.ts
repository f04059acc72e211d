// `npm run load` lists and cancels as fast as responses come, and checks each. `npm run soak` does so
// for ten minutes, and fails if a process's memory or handles grow in the last third.
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Script } from "../../infra/tools/terminal/script.ts";
import { errorBody } from "../../shared/errors.ts";
import { median } from "../bench/samples.ts";
import { functionProcesses } from "../helpers/processes.ts";
import { tableWriter } from "../helpers/table-writer.ts";
import { runTraffic } from "./traffic/run-traffic.ts";

const { connections, seconds, watch } = new Script("npm run load --")
  .option(
    "--connections <number>",
    "how many requests are sent at once, in groups of five",
    Number,
    100,
  )
  .option("--seconds <number>", "how long to send them", Number, 30)
  .option("--watch", "watch the memory and the handles of each process (on Linux)")
  .parse()
  .opts<{ connections: number; seconds: number; watch?: true }>();

/** How many orders are listed and cancelled. */
const orders = 2_000;
/** How many requests try to cancel one order. One more lists, at the same time. */
const rivals = 4;
// With seven digits, of which the first is 1: `list` counts such ids.
const firstId = 1_000_000;

await runTraffic(async (stack, counts, problems) => {
  const { putOrder } = tableWriter(stack.client, stack.tables);
  const pending = Array.from({ length: orders }, (_, index) => firstId + index);
  await Promise.all(pending.map((id) => putOrder(pendingOrder(id))));

  const send: Send = async (method, path) => {
    const headers = {
      authorization: `Bearer ${stack.apiKey}`,
      "accept-encoding": "identity",
    };
    const response = await fetch(stack.baseUrl + path, { method, headers });
    const received = { status: response.status, body: await response.text() };
    counts.add(received);
    return received;
  };
  const end = performance.now() + seconds * 1000;
  const sendGroups = async () => {
    while (performance.now() < end) {
      const id = pending.shift();
      if (id === undefined)
        throw new Error("There are more groups of requests than orders");
      for (const result of await Promise.allSettled([list(send), contest(send, id)]))
        if (result.status === "rejected") problems.push(`${result.reason}`);
      await putOrder(pendingOrder(id));
      pending.push(id);
    }
  };
  const watched = watch ? watchProcesses(end) : [];
  const groupsAtOnce = Math.ceil(connections / (rivals + 1));
  await Promise.all(Array.from({ length: groupsAtOnce }, sendGroups));
  for (const [measure, samples] of Map.groupBy(await watched, (sample) => sample.measure))
    problems.push(...growth(measure, samples));
});

type Send = (
  method: "GET" | "DELETE",
  path: string,
) => Promise<{ status: number; body: string }>;

async function list(send: Send) {
  const { status, body } = await send("GET", "/store/orders");
  const ids = new Set(body.match(/"id":1\d{6}\b/g));
  if (status !== 200 || !Array.isArray(JSON.parse(body)) || ids.size !== orders)
    throw new Error(
      `A list of ${ids.size} instead of ${orders}: ${status} ${body.slice(0, 200)}`,
    );
}

async function contest(send: Send, id: number) {
  const responses = await Promise.all(
    Array.from({ length: rivals }, () => send("DELETE", `/store/orders/${id}`)),
  );
  const seen = responses.map(({ status, body }) => `${status} ${body}`).sort();
  const lost = `409 ${errorBody("order_already_cancelled")}`;
  const expected = ["204 ", ...Array(rivals - 1).fill(lost)];
  if (seen.join() !== expected.join())
    throw new Error(`Cancelling ${id}: ${seen.join(", ")}`);
}

function pendingOrder(id: number) {
  return { id: { N: String(id) }, petId: { N: "1" }, status: { S: "pending" } };
}

interface Sample {
  measure: string;
  value: number;
}

async function watchProcesses(end: number) {
  const samples: Sample[] = [];
  for (let left = 60; left > 0; left -= 1) {
    await wait(Math.max(0, end - performance.now()) / left);
    const gateway = { name: "the gateway", pid: process.pid };
    for (const { name, pid } of [gateway, ...(await functionProcesses())]) {
      const status = await readFile(`/proc/${pid}/status`, "utf8");
      const megabytes = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
      const handles = await readdir(`/proc/${pid}/fd`);
      samples.push(
        { measure: `megabytes of ${name} (${pid})`, value: megabytes },
        { measure: `handles of ${name} (${pid})`, value: handles.length },
      );
    }
  }
  return samples;
}

/** Prints a line on a measure's growth, and returns it if that is too much. */
function growth(measure: string, samples: Sample[]) {
  const values = samples.map(({ value }) => value);
  // On top of a tenth.
  const allowed = measure.startsWith("handles") ? 2 : 5;
  const third = Math.floor(values.length / 3);
  const before = median(values.slice(third, -third));
  const after = median(values.slice(-third));
  const line = `${measure}: ${before} in the second third, ${after} in the last`;
  console.log(line);
  return after > 1.1 * before + allowed ? [line] : [];
}
