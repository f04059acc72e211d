// `npm run soak`: a steady load for minutes, with the memory and the open handles of every process watched (on Linux).
import { readdir } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { startEngine } from "../../infra/local/engine/engine.ts";
import type { LocalStack } from "../../infra/local/local-stack.ts";
import { positiveNumber } from "../helpers/number-options.ts";
import { residentMegabytes, stackProcesses } from "../helpers/processes.ts";
import { startStack } from "../helpers/start-stack.ts";
import { LoadClients } from "../helpers/traffic/load-clients.ts";
import { conclude, type Findings, sampleUsage, soakFindings, type Usage } from "../helpers/traffic/verdict.ts";

const { minutes, connections } = new Command("npm run soak --")
  .addOption(positiveNumber("--minutes <number>", "how long to run", 10))
  .addOption(positiveNumber("--connections <number>", "how many clients send requests at once", 8))
  .parse()
  .opts<{ minutes: number; connections: number }>();

const engine = await startEngine();
const traffic = async (stack: LocalStack): Promise<Findings> => {
  const clients = await LoadClients.connect(stack, connections, 1_000);
  let running = true;
  let requests = 0;
  const client = async (): Promise<void> => {
    for (; running; requests += 1) await clients.next();
  };
  const finished = Promise.all(Array.from({ length: connections }, client));
  const use = async () =>
    Promise.all(
      (await stackProcesses(engine)).map(async ({ name, pid }): Promise<[string, Usage]> => [name, await usage(pid)]),
    );
  const history = await sampleUsage(minutes, use, wait);
  running = false;
  await finished;
  await clients.close();

  const summary = `${requests} requests in ${minutes} minutes; wrong responses and growing processes`;
  return soakFindings(summary, clients, history);
};

try {
  await conclude((log) => startStack({ dynamodbEndpoint: engine.endpoint, log }), traffic);
} finally {
  await engine.stop();
}

async function usage(pid: number): Promise<Usage> {
  return { memory: Math.round(await residentMegabytes(pid)), handles: (await readdir(`/proc/${pid}/fd`)).length };
}
