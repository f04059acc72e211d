import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { figure, type Measured } from "./row.ts";
import { inTurn, median } from "./samples.ts";

export async function start(): Promise<Measured[]> {
  const { npm } = await inTurn(3, ["npm"], secondsUntilReady);
  return [figure("npm start to ready", median(npm), "s")];
}

async function secondsUntilReady(): Promise<number> {
  const begun = performance.now();
  const npm = spawn("npm", ["start", "--", "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let seconds: number | undefined;
  for await (const line of createInterface(npm.stdout)) {
    if (!line.startsWith("{")) continue;
    seconds = (performance.now() - begun) / 1000;
    npm.kill();
  }
  if (seconds === undefined) throw new Error("npm start ended before it was ready");
  return seconds;
}
