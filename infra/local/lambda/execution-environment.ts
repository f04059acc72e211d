import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { FunctionFailure } from "./function-response.ts";
import { type Invocation, RuntimeApi } from "./runtime-api.ts";
import { type FunctionDefinition, spawnRuntime } from "./runtime-process.ts";

const initTimeoutSeconds = 10;
/** How long a process may take to notice and log that its response was cut off. */
const cutOffMs = 1_000;

/** One execution environment: a process that runs AWS's own runtime interface client, one invocation at a time. */
export class ExecutionEnvironment {
  readonly #definition: FunctionDefinition;
  readonly #log: (line: string) => void;
  readonly #api = new RuntimeApi();
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  /** Resolves when the function has been loaded; rejects with the FunctionFailure when it can't be. */
  readonly ready = this.#ready.promise;
  /** Resolves when the process has ended. */
  readonly ended = this.#ended.promise;
  #child: ChildProcess | undefined;
  #failure: FunctionFailure | undefined;
  /** Whether its end is expected. Any other end is logged as a crash. */
  #endExpected = false;

  constructor(definition: FunctionDefinition, log: (line: string) => void) {
    this.#definition = definition;
    this.#log = log;
    this.#api.once("idle", this.#ready.resolve);
    this.#api.once("initFailed", (failure) => {
      this.#failure ??= failure;
    });
    this.#api.once("cutOff", (by) => {
      this.#endExpected ||= by === "reader";
      setTimeout(() => this.#child?.kill("SIGKILL"), cutOffMs).unref();
    });
    this.#api.listen().then((address) => this.#spawn(address));
    const timer = this.#endAfter(initTimeoutSeconds, "Init");
    this.ready.catch(() => {}).finally(() => clearTimeout(timer));
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether it takes invocations: `idle` does now, `becoming idle` soon and without further help. */
  get state(): RuntimeApi["state"] | "ending" {
    return this.#failure === undefined ? this.#api.state : "ending";
  }

  /** Runs one invocation. Resolves when the environment can take the next, or has ended. */
  async run(invocation: Invocation): Promise<void> {
    const { timeoutSeconds, arn } = this.#definition;
    using _ = this.#endAfter(timeoutSeconds, "Task");
    this.#api.hand(invocation, {
      "Lambda-Runtime-Aws-Request-Id": invocation.requestId,
      "Lambda-Runtime-Deadline-Ms": Date.now() + timeoutSeconds * 1000,
      "Lambda-Runtime-Invoked-Function-Arn": arn,
    });
    await Promise.race([once(this.#api, "idle"), this.ended]);
  }

  /** Ends the process. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#endExpected = true;
    this.#end(new FunctionFailure("Sandbox.Stopped", "The local stack is stopping"));
    await this.ended;
  }

  #spawn(runtimeApi: string): void {
    if (this.#failure !== undefined) return;
    const child = spawnRuntime(this.#definition, runtimeApi);
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => this.#log(line));
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (!this.#endExpected) this.#log(line);
    });
    child.on("error", (error) => this.#hasEnded(error.message));
    child.on("close", (code, signal) => this.#hasEnded(signal === null ? `exit status ${code}` : `signal ${signal}`));
  }

  #endAfter(seconds: number, what: "Init" | "Task"): NodeJS.Timeout {
    const failure = new FunctionFailure("Sandbox.Timedout", `${what} timed out after ${seconds.toFixed(2)} seconds`);
    return setTimeout(() => this.#end(failure), seconds * 1000);
  }

  #end(failure: FunctionFailure): void {
    this.#failure ??= failure;
    if (this.#child === undefined) this.#hasEnded("not started");
    else this.#child.kill("SIGKILL");
  }

  #hasEnded(how: string): void {
    const failure = this.#failure ?? new FunctionFailure("Runtime.ExitError", `Runtime exited with ${how}`);
    const { invocation } = this.#api;
    const request = invocation === undefined ? "" : `, request ${invocation.requestId}`;
    if (!this.#endExpected) this.#log(`${this.#definition.name}: ${failure.message}${request}`);
    this.#api.close();
    this.#ready.reject(failure);
    invocation?.response.reject(failure);
    this.#ended.resolve();
  }
}
