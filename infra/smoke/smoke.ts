// `npm run smoke`.
import { createInterface } from "node:readline/promises";
import { smokeOptions } from "./options.ts";
import { report, smoke } from "./smoke-test.ts";

const { asks, ...options } = smokeOptions(process.argv);
console.log(`Smoke test of ${options.baseUrl}`);
if (!asks || (await confirm())) await report(smoke(options));
else process.exitCode = 2;

async function confirm(): Promise<boolean> {
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  const warning = "This sends thousands of requests: for minutes, other clients may get 429.";
  return /^y(es)?$/i.test((await terminal.question(`${warning} Go on? [y/N] `)).trim());
}
