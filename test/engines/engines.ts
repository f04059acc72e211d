// Runs the test files that can use another engine on DynamoDB Local: `npm run engines`.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startVitest } from "vitest/node";
import { freePort } from "../../infra/local/machine/ports.ts";

const run = promisify(execFile);
const startDeadlineMs = 60_000;

for (const tool of ["java", "mvn"]) {
  await run(tool, ["--version"]).catch(() => {
    console.error(`DynamoDB Local needs Java 17 and Maven: \`${tool}\` does not run on this machine`);
    process.exit(1);
  });
}

await using started = new AsyncDisposableStack();
const directory = await mkdtemp(join(tmpdir(), "dynamodb-local-"));
started.defer(() => rm(directory, { recursive: true, force: true }));
const pom = fileURLToPath(new URL("pom.xml", import.meta.url));
await run("mvn", [
  "--quiet",
  "--batch-mode",
  "--file",
  pom,
  "dependency:copy-dependencies",
  `-DoutputDirectory=${directory}`,
]);

const port = await freePort();
const endpoint = `http://127.0.0.1:${port}`;
const engine = spawn(
  "java",
  [
    `-Djava.library.path=${directory}`,
    "-classpath",
    join(directory, "*"),
    "com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
    "-inMemory",
    "-disableTelemetry",
    "-port",
    String(port),
  ],
  { stdio: ["ignore", "ignore", "pipe"] },
);
const complaints = text(engine.stderr);
const ended = once(engine, "exit");
started.defer(async () => {
  engine.kill();
  await ended;
});
await untilReady();

process.env["DYNAMODB_ENDPOINT"] = endpoint;
const vitest = await startVitest("test", [], { watch: false, project: "the engine at DYNAMODB_ENDPOINT" });
await vitest.close();

async function untilReady(): Promise<void> {
  const deadline = AbortSignal.timeout(startDeadlineMs);
  for (;;) {
    deadline.throwIfAborted();
    if (engine.exitCode !== null) throw new Error(`DynamoDB Local did not start: ${await complaints}`);
    try {
      await fetch(endpoint);
      return;
    } catch {
      await setTimeout(100);
    }
  }
}
