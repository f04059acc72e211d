// `npm run schemathesis` tests the service against its OpenAPI document with all of Schemathesis's
// checks and phases. Further options for Schemathesis follow after `--`.
import { exec, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { documentFile } from "../../helpers/openapi/document.ts";
import { startStack } from "../../helpers/start-stack.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const run = promisify(exec);
const fileHere = (name: string) => fileURLToPath(new URL(name, import.meta.url));

await run("python3 --version").catch(() => {
  console.error("Schemathesis needs Python: `python3` does not run on this machine");
  process.exit(1);
});

await using cleanup = new AsyncDisposableStack();
const { path: cwd } = cleanup.use(await temporaryFolder());
const requirements = fileHere("requirements.txt");
const install = `venv/bin/pip install --quiet --requirement "${requirements}"`;
await run(`python3 -m venv venv && ${install}`, { cwd });

const orders = fileHere("../orders.ndjson");
const stack = await startStack(cleanup, { orders, log: () => {} });

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
