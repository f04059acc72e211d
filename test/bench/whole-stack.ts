import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { startLocalStack } from "../../infra/local/local-stack.ts";
import { send } from "../helpers/send.ts";
import { goals, reported } from "./goals.ts";
import type { Row } from "./row.ts";
import { median } from "./samples.ts";

const seconds = 5;
const clients = 16;

/** How many rejected cancellations per second the whole local stack serves: gateway, authorizer's cache, function, engine. */
export async function throughput(): Promise<Row> {
  const stack = await startLocalStack({ port: 0, log: () => {} });
  try {
    const headers = { authorization: `Bearer ${stack.apiKey}` };
    const end = performance.now() + seconds * 1000;
    let served = 0;
    const client = async (): Promise<void> => {
      while (performance.now() < end) {
        const { status } = await send(`${stack.baseUrl}/store/orders/-1`, { method: "DELETE", headers });
        if (status !== 404) throw new Error(`A cancellation got ${status}`);
        served += 1;
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    const value = served / seconds;
    const what = `requests per second, ${clients} clients, the whole local stack`;
    return { what, ours: `${value.toFixed(0)}/s`, floor: "", value, ...reported, unit: "s" };
  } finally {
    await stack.stop();
  }
}

/** Seconds from `npm start` to the line that says it is ready. */
export async function startTime(): Promise<Row> {
  const samples: number[] = [];
  for (let run = 0; run < 3; run += 1) samples.push(await untilReady());
  const value = median(samples);
  return {
    what: "npm start to ready",
    ours: `${value.toFixed(1)} s`,
    floor: "",
    value,
    ...goals.start,
    unit: "s",
  };
}

async function untilReady(): Promise<number> {
  const begun = performance.now();
  const npm = spawn("npm", ["start", "--", "--port", "0", "--json"], { stdio: ["ignore", "pipe", "ignore"] });
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
