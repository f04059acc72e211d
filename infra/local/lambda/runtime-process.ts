import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { addAbortListener } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../machine/ports.ts";

/** A function as its template describes it. */
export interface FunctionDefinition {
  name: string;
  arn: string;
  /** The directory of the bundle, and the handler in it, like `index.handler`. */
  directory: string;
  handler: string;
  timeoutSeconds: number;
  memoryMegabytes: number;
  /** Where a debugger finds it; any free port when another process is there. */
  inspectPort?: number | undefined;
  /** All of it: nothing is inherited from this process. */
  environment: Record<string, string>;
}

const runtimeClient = fileURLToPath(import.meta.resolve("aws-lambda-ric"));

/**
 * Starts a function's process, which finds the Runtime API at this host and port.
 *
 * @param log gets each line of its output.
 * @param signal kills it.
 */
export async function startProcess(
  definition: FunctionDefinition,
  runtimeApi: string,
  log: (line: string) => void,
  signal: AbortSignal,
) {
  const { directory, environment, handler, memoryMegabytes, name } = definition;
  const options = [
    // The share of memory that Lambda's own bootstrap gives to old and new space.
    `--max-semi-space-size=${Math.floor(memoryMegabytes / 20)}`,
    `--max-old-space-size=${Math.floor(memoryMegabytes * 0.9)}`,
    "--enable-source-maps",
    "--import",
    new URL("rapid-client.mjs", import.meta.url).href,
  ];
  if (definition.inspectPort) {
    const port = await freePort("127.0.0.1", definition.inspectPort);
    log(`${name}: a debugger can attach to 127.0.0.1:${port}`);
    // Without the lines in which Node.js would say so, but not for which function.
    options.push(`--inspect=${port}`, "--inspect-publish-uid=http");
  }
  // The name says which function it is in a list of processes.
  const child = spawn(process.execPath, [...options, runtimeClient, name], {
    cwd: directory,
    // A group of its own, so that Ctrl-C reaches only the process that stops the others.
    detached: true,
    stdio: "pipe",
    env: {
      ...environment,
      AWS_LAMBDA_RUNTIME_API: runtimeApi,
      AWS_LAMBDA_FUNCTION_NAME: name,
      AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
      AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
      AWS_LAMBDA_LOG_STREAM_NAME: `local/[$LATEST]${randomUUID()}`,
      AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
      // Where the SDK looks for settings. The home of the user may have some, or not exist.
      HOME: directory,
      LAMBDA_TASK_ROOT: directory,
      TZ: ":UTC",
      _HANDLER: handler,
    },
  });
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on("line", log);
  addAbortListener(signal, () => child.kill("SIGKILL"));
  return child;
}
