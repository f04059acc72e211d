// `npm run engines` runs the test files that can use another engine on DynamoDB Local. It needs
// Java 17 and Maven.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startVitest } from "vitest/node";
import { freePort } from "../../infra/tools/local/machine/ports.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

await using started = new AsyncDisposableStack();
const { path } = started.use(await temporaryFolder());
const pom = fileURLToPath(new URL("pom.xml", import.meta.url));
const download = ["dependency:copy-dependencies", `-DoutputDirectory=${path}`];
await promisify(execFile)("mvn", ["--quiet", "--batch-mode", "--file", pom, ...download]);

const port = await freePort();
const endpoint = `http://127.0.0.1:${port}`;
const libraries = [`-Djava.library.path=${path}`, "-classpath", join(path, "*")];
const server = [
  "com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
  "-inMemory",
  // Otherwise each access key and each region would have tables of its own.
  "-sharedDb",
  "-disableTelemetry",
];
const engine = spawn("java", [...libraries, ...server, "-port", String(port)], {
  stdio: ["ignore", "ignore", "inherit"],
});
const ended = once(engine, "exit");
started.defer(async () => {
  engine.kill();
  await ended;
});
const deadline = AbortSignal.timeout(60_000);
while (!(await fetch(endpoint).catch(() => undefined))) {
  if (engine.exitCode !== null || deadline.aborted)
    throw new Error("DynamoDB Local did not start");
  await pause(100);
}

process.env["DYNAMODB_ENDPOINT"] = endpoint;
const vitest = await startVitest("test", [], {
  watch: false,
  project: "the engine at DYNAMODB_ENDPOINT",
});
await vitest.close();
