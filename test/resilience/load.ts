// `npm run load`: clients that list and cancel at once, each as fast as it gets responses, and every response checked.
// `npm run soak` does so for ten minutes: at its end no process may use more memory, or more handles, than in its middle.
import { readdir } from "node:fs/promises";
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { positiveNumber } from "../helpers/number-options.ts";
import { functionProcesses, residentMegabytes } from "../helpers/processes.ts";
import { conclude, type Findings } from "../helpers/traffic/conclude.ts";
import { LoadClients, type Operation } from "../helpers/traffic/load-clients.ts";

const { connections, seconds, orders, watch } = new Command("npm run load --")
  .addOption(positiveNumber("--connections <number>", "how many clients send requests at once", 100))
  .addOption(positiveNumber("--seconds <number>", "how long they do", 30))
  .addOption(positiveNumber("--orders <number>", "how many orders they list, and contest", 2_000))
  .option("--watch", "watch the memory and the handles of each process (on Linux)")
  .parse()
  .opts<{ connections: number; seconds: number; orders: number; watch?: true }>();

/** The usage of a process at one moment: memory in megabytes, handles by count. */
type Usage = Record<"memory" | "handles", number>;

/** How much more than in the second third of a run it may be in the last one. */
const allowed: Usage = { memory: 5, handles: 2 };

const latencies: Record<Operation, RecordableHistogram> = {
  listOrders: createHistogram(),
  cancelOrder: createHistogram(),
};

await conclude(async (stack) => {
  const clients = await LoadClients.connect(stack, connections, orders);
  const end = performance.now() + seconds * 1000;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const sent = performance.now();
      const operation = await clients.next();
      latencies[operation].record(Math.max(1, Math.round((performance.now() - sent) * 1000)));
    }
  };
  const usages = watch ? watchProcesses(end) : Promise.resolve([]);
  await Promise.all(Array.from({ length: connections }, client));
  const growth = (await usages).map(([name, thirds]) => growthOf(name, thirds));
  clients.close();
  const times = Object.entries(latencies).map(([operation, histogram]) => {
    const at = (percentile: number): string =>
      `p${percentile} ${(histogram.percentile(percentile) / 1000).toFixed(1)} ms`;
    return `${operation}: ${histogram.count} responses, ${[50, 90, 99, 100].map(at).join(", ")}`;
  });
  const lines = [...times, ...clients.responses.lines(), ...growth.flatMap((found) => found.lines)];
  return { lines, wrong: [...clients.wrong, ...growth.flatMap((found) => found.wrong)] };
});

/** Samples every process 60 times, evenly over the run. */
async function watchProcesses(end: number): Promise<[name: string, Usage[]][]> {
  const usages = new Map<string, Usage[]>();
  for (let sample = 0; sample < 60; sample += 1) {
    await wait(Math.max(0, end - performance.now()) / (60 - sample));
    const functions = (await functionProcesses()).map(({ name, pid }) => ({ name: `${name} ${pid}`, pid }));
    for (const { name, pid } of [{ name: "the gateway", pid: process.pid }, ...functions]) {
      const handles = (await readdir(`/proc/${pid}/fd`)).length;
      usages.set(name, [...(usages.get(name) ?? []), { memory: Math.round(await residentMegabytes(pid)), handles }]);
    }
  }
  return [...usages];
}

function growthOf(name: string, usages: Usage[]): Findings {
  const third = Math.floor(usages.length / 3);
  const parts = (["memory", "handles"] as const).map((what) => {
    const middle = (part: Usage[]): number => part.map((usage) => usage[what]).sort((a, b) => a - b)[third >> 1] ?? 0;
    const [before, after] = [middle(usages.slice(third, -third)), middle(usages.slice(-third))];
    const grew = after > 1.1 * before + allowed[what];
    return { line: `${name}: ${what} ${before} in the second third, ${after} in the last`, grew };
  });
  return { lines: parts.map(({ line }) => line), wrong: parts.filter(({ grew }) => grew).map(({ line }) => line) };
}
