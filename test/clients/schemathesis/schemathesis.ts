// `npm run schemathesis` tests the service against its OpenAPI document with all of Schemathesis's
// checks and phases. Further options for Schemathesis follow after `--`.
import { exec, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { documentFile } from "../../helpers/openapi/document.ts";
import { startStack } from "../../helpers/start-stack.ts";

const run = promisify(exec);
const requirements = new URL("requirements.txt", import.meta.url);
const orders = fileURLToPath(new URL("../orders.ndjson", import.meta.url));

await run("python3 --version").catch(() => {
  console.error("Schemathesis needs Python: `python3` does not run on this machine");
  process.exit(1);
});

await using started = new AsyncDisposableStack();
const cwd = await mkdtemp(join(tmpdir(), "schemathesis-"));
started.defer(() => rm(cwd, { recursive: true, force: true }));
await cp(requirements, join(cwd, "requirements.txt"));
await run("python3 -m venv venv && venv/bin/pip install --quiet --requirement requirements.txt", {
  cwd,
});

const events = new Map<string, number>();
const stack = await startStack({ orders, log: countEvent });
started.defer(() => stack.stop());

const args = [
  "run",
  fileURLToPath(documentFile),
  `--url=${stack.baseUrl}`,
  `--header=Authorization: Bearer ${stack.apiKey}`,
  "--checks=all",
  "--phases=examples,coverage,fuzzing,stateful",
  "--max-examples=1000",
  "--seed=1",
  ...process.argv.slice(2),
];
const schemathesis = spawn("venv/bin/schemathesis", args, { cwd, stdio: "inherit" });
const [code]: (number | null)[] = await once(schemathesis, "exit");
process.exitCode = code ?? 1;
console.log("\nThe functions logged:", Object.fromEntries(events));

/** Counts the lines that the functions log, by their event. */
function countEvent(line: string): void {
  const event = /"event":"(\w+)"/.exec(line)?.[1];
  if (event !== undefined) events.set(event, (events.get(event) ?? 0) + 1);
}
