import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { goals, type Row } from "./row.ts";
import { median } from "./samples.ts";

/** Seconds from `npm start` to the line that says it is ready. */
export async function startTime(): Promise<Row> {
  const samples: number[] = [];
  for (let run = 0; run < 5; run += 1) samples.push(await untilReady());
  const value = median(samples);
  return { what: "npm start to ready", ours: `${value.toFixed(1)} s`, floor: "", value, ...goals.start, unit: "s" };
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
