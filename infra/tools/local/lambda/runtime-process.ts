import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { addAbortListener } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { dummyCredentials, region } from "../../running-stacks/local-account.ts";
import { freePort } from "../machine/ports.ts";
import type { FunctionDefinition } from "../template/functions.ts";

const runtimeClient = fileURLToPath(import.meta.resolve("aws-lambda-ric"));

/**
 * Starts a function's process, which finds the Runtime API at this host and port. It has the
 * environment that Lambda would give it and inherits nothing.
 *
 * @param log gets each line of its output.
 * @param signal kills it.
 */
export async function startProcess(
  {
    directory,
    endpoint,
    inspectPort,
    name,
    Environment,
    Handler,
    LoggingConfig,
    MemorySize,
    Runtime,
  }: FunctionDefinition,
  runtimeApi: string,
  log: (line: string) => void,
  signal: AbortSignal,
) {
  const options = [
    // The share of memory that Lambda's own bootstrap gives to old and new space.
    `--max-semi-space-size=${Math.floor(MemorySize / 20)}`,
    `--max-old-space-size=${Math.floor(MemorySize * 0.9)}`,
    "--enable-source-maps",
    "--import",
    import.meta.resolve("./rapid-client.mjs"),
  ];
  if (inspectPort) {
    const port = await freePort("127.0.0.1", inspectPort);
    log(`${name}: a debugger can attach to 127.0.0.1:${port}`);
    // `http` alone silences Node.js's own lines about the port, which don't name the function.
    options.push(`--inspect=${port}`, "--inspect-publish-uid=http");
  }
  // The name says which function it is in a list of processes.
  const child = spawn(process.execPath, [...options, runtimeClient, name], {
    cwd: directory,
    // A group of its own, so that Ctrl-C reaches only the process that stops the others.
    detached: true,
    stdio: "pipe",
    env: {
      ...Environment.Variables,
      AWS_ACCESS_KEY_ID: dummyCredentials.accessKeyId,
      AWS_DEFAULT_REGION: region,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_EXECUTION_ENV: `AWS_Lambda_${Runtime}`,
      AWS_LAMBDA_RUNTIME_API: runtimeApi,
      AWS_LAMBDA_FUNCTION_NAME: name,
      AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(MemorySize),
      AWS_LAMBDA_LOG_FORMAT: LoggingConfig.LogFormat,
      AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
      AWS_LAMBDA_LOG_LEVEL: LoggingConfig.ApplicationLogLevel,
      AWS_LAMBDA_LOG_STREAM_NAME: `local/[$LATEST]${randomUUID()}`,
      AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
      AWS_REGION: region,
      AWS_SECRET_ACCESS_KEY: dummyCredentials.secretAccessKey,
      AWS_SESSION_TOKEN: "local",
      // Where the SDK looks for settings. The home of the user may have some, or not exist.
      HOME: directory,
      LAMBDA_TASK_ROOT: directory,
      TZ: ":UTC",
      _HANDLER: Handler,
    },
  });
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on("line", log);
  addAbortListener(signal, () => child.kill("SIGKILL"));
  return child;
}
