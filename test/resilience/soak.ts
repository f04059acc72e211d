// `npm run soak`: a steady load for minutes, with the memory and the open handles of every process watched (on Linux).
import { readdir } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { startEngine } from "../../infra/local/engine/engine.ts";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { residentMegabytes } from "../helpers/processes.ts";
import { LoadClients } from "../helpers/traffic/load-clients.ts";
import { troubles } from "../helpers/trouble.ts";

const { minutes, connections } = new Command("npm run soak --")
  .option("--minutes <number>", "how long to run", Number, 10)
  .option("--connections <number>", "how many clients send requests at once", Number, 8)
  .parse()
  .opts<{ minutes: number; connections: number }>();
const samples = 60;
const intervalMs = (minutes * 60_000) / samples;
/** How far the last third of a run may exceed its second third: memory in megabytes, handles by count. */
const allowed = { memory: (level: number): number => level * 1.1 + 5, handles: (level: number): number => level + 2 };

interface Usage {
  memory: number;
  handles: number;
}

const failures: string[] = [];
const engine = await startEngine();
const stack = await startLocalStack({
  port: 0,
  dynamodbEndpoint: engine.endpoint,
  log: (line) => void failures.push(...troubles([line])),
});
try {
  const clients = await LoadClients.connect(stack, connections, 1_000);
  let running = true;
  let requests = 0;
  const client = async (): Promise<void> => {
    for (; running; requests += 1) await clients.next();
  };
  const finished = Promise.all(Array.from({ length: connections }, client));
  const history = new Map<string, Usage[]>();
  for (let sample = 0; sample < samples; sample += 1) {
    await wait(intervalMs);
    for (const [name, pid] of processes()) history.set(name, [...(history.get(name) ?? []), await usage(pid)]);
  }
  running = false;
  await finished;
  await clients.close();

  const wrong = [...clients.wrong, ...failures];
  for (const [name, usages] of history) {
    for (const what of ["memory", "handles"] as const) {
      const third = Math.floor(usages.length / 3);
      const [before, after] = [usages.slice(third, -third), usages.slice(-third)].map((part) => median(part, what));
      const flat = before !== undefined && after !== undefined && after <= allowed[what](before);
      console.log(`${name}: ${what} ${before} in the second third, ${after} in the last`);
      if (!flat) wrong.push(`${name}: ${what} grew from ${before} to ${after}`);
    }
  }
  for (const line of clients.responses.lines()) console.log(line);
  console.log(clients.histories.summary);
  console.log(`${requests} requests in ${minutes} minutes; wrong responses and growing processes: ${wrong.length}`);
  for (const problem of wrong.slice(0, 10)) console.log(problem);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  await stack.stop();
  await engine.stop();
}

/** The gateway and the load's clients share this process. */
function processes(): [string, number][] {
  const functions = ["ListOrders", "CancelOrder", "Authorize"].flatMap((name) =>
    stack.functions.pids(name).map((pid): [string, number] => [`${name} ${pid}`, pid]),
  );
  return [["the gateway", process.pid], ["the engine", engine.pid], ...functions];
}

async function usage(pid: number): Promise<Usage> {
  return { memory: Math.round(await residentMegabytes(pid)), handles: (await readdir(`/proc/${pid}/fd`)).length };
}

function median(usages: Usage[], what: keyof Usage): number | undefined {
  return usages.map((usage) => usage[what]).sort((a, b) => a - b)[Math.floor(usages.length / 2)];
}
