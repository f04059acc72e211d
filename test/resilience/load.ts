// `npm run load`: clients that list and cancel at once, each as fast as it gets responses, and every response checked.
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import { Command } from "commander";
import type { LocalStack } from "../../infra/local/local-stack.ts";
import { positiveNumber } from "../helpers/number-options.ts";
import { startStack } from "../helpers/start-stack.ts";
import { LoadClients, type Operation } from "../helpers/traffic/load-clients.ts";
import { conclude, type Findings, loadFindings } from "../helpers/traffic/verdict.ts";

const { connections, seconds, orders } = new Command("npm run load --")
  .addOption(positiveNumber("--connections <number>", "how many clients send requests at once", 100))
  .addOption(positiveNumber("--seconds <number>", "how long they do", 30))
  .addOption(positiveNumber("--orders <number>", "how many orders they list, and contest", 2_000))
  .parse()
  .opts<{ connections: number; seconds: number; orders: number }>();
const latencies: Record<Operation, RecordableHistogram> = {
  listOrders: createHistogram(),
  cancelOrder: createHistogram(),
};

const traffic = async (stack: LocalStack): Promise<Findings> => {
  const clients = await LoadClients.connect(stack, connections, orders);
  const until = performance.now() + seconds * 1000;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const begun = performance.now();
      const operation = await clients.next();
      latencies[operation].record(Math.max(1, Math.round((performance.now() - begun) * 1000)));
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  await clients.close();
  for (const [operation, histogram] of Object.entries(latencies)) {
    const at = (percentile: number): string => `${(histogram.percentile(percentile) / 1000).toFixed(1)} ms`;
    console.log(
      `${operation}: ${histogram.count} responses, p50 ${at(50)}, p90 ${at(90)}, p99 ${at(99)}, max ${at(100)}`,
    );
  }
  return loadFindings(`${connections} connections for ${seconds} s; wrong responses`, clients);
};

await conclude((log) => startStack({ log }), traffic);
