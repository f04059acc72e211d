import { once } from "node:events";
import { createInterface } from "node:readline";
import { freePort } from "../machine/ports.ts";
import { FunctionFailure } from "./function-response.ts";
import { type Invocation, RuntimeApi } from "./runtime-api.ts";
import { type FunctionDefinition, spawnRuntime } from "./runtime-process.ts";

const initTimeoutSeconds = 10;
/** How long a process may take to notice and log that its response was cut off. */
const cutOffMs = 1_000;

export type ExecutionEnvironment = ReturnType<typeof startEnvironment>;

/**
 * Starts an execution environment: a process that runs AWS's own runtime interface client, one
 * invocation at a time.
 */
export function startEnvironment(definition: FunctionDefinition, log: (line: string) => void) {
  const api = new RuntimeApi();
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let child: ReturnType<typeof spawnRuntime> | undefined;
  let failure: FunctionFailure | undefined;
  /** Whether its end is expected. Any other end is logged as a crash. */
  let endExpected = false;

  const spawn = (runtimeApi: string, inspectPort?: number): void => {
    if (failure !== undefined) return;
    child = spawnRuntime(definition, runtimeApi, inspectPort);
    if (inspectPort) log(`${definition.name}: a debugger can attach to 127.0.0.1:${inspectPort}`);
    createInterface({ input: child.stdout }).on("line", log);
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (!endExpected) log(line);
    });
    child.on("error", (error) => finish(error.message));
    child.on("close", (code, signal) =>
      finish(signal === null ? `exit status ${code}` : `signal ${signal}`),
    );
  };
  const end = (reason: FunctionFailure): void => {
    failure ??= reason;
    if (child === undefined) finish("not started");
    else child.kill("SIGKILL");
  };
  const endAfter = (seconds: number, what: "Init" | "Task"): NodeJS.Timeout => {
    const timeout = new FunctionFailure(`${what} timed out after ${seconds.toFixed(2)} seconds`);
    return setTimeout(() => end(timeout), seconds * 1000);
  };
  const finish = (how: string): void => {
    const reason = failure ?? new FunctionFailure(`Runtime exited with ${how}`);
    const { invocation } = api;
    const request = invocation === undefined ? "" : `, request ${invocation.requestId}`;
    if (!endExpected) log(`${definition.name}: ${reason.message}${request}`);
    api.close();
    ready.reject(reason);
    invocation?.response.reject(reason);
    ended.resolve();
  };

  api.once("idle", ready.resolve);
  api.once("initFailed", (reason) => {
    failure ??= reason;
  });
  api.once("cutOff", (by) => {
    endExpected ||= by === "reader";
    setTimeout(() => child?.kill("SIGKILL"), cutOffMs).unref();
  });
  const { inspectPort, timeoutSeconds } = definition;
  const choosingPort = inspectPort === undefined ? undefined : freePort("127.0.0.1", inspectPort);
  Promise.all([api.listen(), choosingPort]).then((found) => spawn(...found));
  const timer = endAfter(inspectPort ? timeoutSeconds : initTimeoutSeconds, "Init");
  ready.promise.catch(() => {}).finally(() => clearTimeout(timer));

  return {
    /**
     * Resolves when the function has been loaded; rejects with the FunctionFailure when it can't
     * be.
     */
    ready: ready.promise,
    /** Resolves when the process has ended. */
    ended: ended.promise,
    pid: () => child?.pid,
    /**
     * Whether it takes invocations: `idle` does now, `becoming idle` soon and without further help.
     */
    state: () => (failure === undefined ? api.state : "ending"),
    /** Runs one invocation. Resolves when the environment can take the next, or has ended. */
    run: async (invocation: Invocation): Promise<void> => {
      using _ = endAfter(definition.timeoutSeconds, "Task");
      api.invoke(invocation, {
        "Lambda-Runtime-Aws-Request-Id": invocation.requestId,
        "Lambda-Runtime-Deadline-Ms": Date.now() + definition.timeoutSeconds * 1000,
        "Lambda-Runtime-Invoked-Function-Arn": definition.arn,
      });
      await Promise.race([once(api, "idle"), ended.promise]);
    },
    /** Ends the process. Resolves when it has ended. */
    stop: async (): Promise<void> => {
      endExpected = true;
      end(new FunctionFailure("The local stack is stopping"));
      await ended.promise;
    },
  };
}
