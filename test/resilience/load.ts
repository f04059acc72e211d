// `npm run load`: clients that list and cancel at once, each as fast as it is answered, and every answer checked.
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { LoadClients, type Operation } from "../helpers/traffic/load-clients.ts";

const { values } = parseArgs({
  options: {
    connections: { type: "string", default: "100" },
    seconds: { type: "string", default: "30" },
    orders: { type: "string", default: "2000" },
  },
});
const connections = Number(values.connections);
const latencies: Record<Operation, RecordableHistogram> = { list: createHistogram(), cancel: createHistogram() };

const failures: string[] = [];
const stack = await startLocalStack({
  port: 0,
  log: (line) => void (/"ERROR"|Runtime exited|timed out|gateway failed/.test(line) && failures.push(line)),
});
try {
  const clients = await LoadClients.connect(stack, connections, Number(values.orders));
  const until = performance.now() + Number(values.seconds) * 1000;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const begun = performance.now();
      const operation = await clients.next();
      latencies[operation].record(Math.max(1, Math.round((performance.now() - begun) * 1000)));
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  clients.close();
  for (const [operation, histogram] of Object.entries(latencies)) {
    const at = (percentile: number): string => `${(histogram.percentile(percentile) / 1000).toFixed(1)} ms`;
    console.log(
      `${operation}: ${histogram.count} answers, p50 ${at(50)}, p90 ${at(90)}, p99 ${at(99)}, max ${at(100)}`,
    );
  }
  const wrong = [...clients.wrong, ...failures];
  console.log(`${connections} connections for ${values.seconds} s; wrong answers: ${wrong.length}`);
  for (const problem of wrong.slice(0, 10)) console.log(problem);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  await stack.stop();
}
