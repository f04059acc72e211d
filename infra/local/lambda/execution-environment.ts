import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { type FunctionAnswer, FunctionFailure, readStreamedAnswer, reportedFailure } from "./function-answer.ts";

/** A function as its template describes it. */
export interface FunctionDefinition {
  name: string;
  arn: string;
  /** The directory of the bundle, and the handler in it, like `index.handler`. */
  directory: string;
  handler: string;
  timeoutSeconds: number;
  memoryMegabytes: number;
  /** Whole: nothing is inherited from this process. */
  environment: Record<string, string>;
}

/** One event on its way through a function. */
export interface Invocation {
  requestId: string;
  /** JSON text. */
  event: string;
  answer: PromiseWithResolvers<FunctionAnswer>;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal | undefined;
}

const runtimeClient = fileURLToPath(import.meta.resolve("aws-lambda-ric"));
const runtimePath = /^\/2018-06-01\/runtime\/(?:invocation|init)\/(?:([^/]+)\/)?(next|response|error)$/;
const initTimeoutSeconds = 10;
/** How long a process may take to notice and log that its response was cut off. */
const cutOffMs = 1_000;

/**
 * One execution environment: a process that runs AWS's own runtime interface client, and the Runtime API it talks to.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export class ExecutionEnvironment {
  readonly #definition: FunctionDefinition;
  readonly #log: (line: string) => void;
  readonly #server: Server;
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #idle = this.#ready;
  #child: ChildProcess | undefined;
  #next: ServerResponse | undefined;
  #invocation: Invocation | undefined;
  #failure: FunctionFailure | undefined;
  #quiet = false;

  constructor(definition: FunctionDefinition, log: (line: string) => void) {
    this.#definition = definition;
    this.#log = log;
    this.#server = createServer((request, response) => {
      // A request that breaks off is the process ending; that is seen and answered where it ends.
      this.#serve(request, response).catch(() => {});
    });
    // A stream may take as long as its client; an idle runtime waits for its next event without limit.
    this.#server.requestTimeout = 0;
    this.#server.keepAliveTimeout = 0;
    this.#server.listen(0, "127.0.0.1", () => this.#spawn());
    const timer = this.#endAfter(initTimeoutSeconds, "Init");
    this.ready.catch(() => {}).finally(() => clearTimeout(timer));
  }

  /** Resolves when the function has been loaded; rejects with the FunctionFailure when it can't be. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Resolves when the process is gone. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether it will be able to take an invocation by itself, soon. */
  get becomingIdle(): boolean {
    return this.#failure === undefined && this.#invocation === undefined && this.#next === undefined;
  }

  /** Runs one invocation. Resolves when the environment can take the next, or has ended; `invocation` has its answer. */
  async run(invocation: Invocation): Promise<void> {
    const { timeoutSeconds, arn } = this.#definition;
    const timer = this.#endAfter(timeoutSeconds, "Task");
    this.#invocation = invocation;
    this.#idle = Promise.withResolvers();
    this.#next
      ?.writeHead(200, {
        "Content-Type": "application/json",
        "Lambda-Runtime-Aws-Request-Id": invocation.requestId,
        "Lambda-Runtime-Deadline-Ms": Date.now() + timeoutSeconds * 1000,
        "Lambda-Runtime-Invoked-Function-Arn": arn,
      })
      .end(invocation.event);
    this.#next = undefined;
    await Promise.race([this.#idle.promise, this.ended]);
    clearTimeout(timer);
  }

  /** Ends the process, which is no crash. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#quiet = true;
    this.#end(new FunctionFailure("Sandbox.Stopped", "The local stack is stopping"));
    await this.ended;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, requestId, what] = runtimePath.exec(request.url ?? "") ?? [];
    const invocation = this.#invocation;
    if (what === "next") {
      this.#next = response;
      this.#checkIdle();
      return;
    }
    if (what === "error" && requestId === undefined) {
      this.#failure = reportedFailure(await text(request));
    } else if (requestId === undefined || requestId !== invocation?.requestId) {
      response.writeHead(400).end();
      return;
    } else if (what === "error") {
      invocation.answer.reject(reportedFailure(await text(request)));
    } else if (request.headers["lambda-runtime-function-response-mode"] === "streaming") {
      await this.#passOn(request, invocation);
      if (!request.complete) return;
    } else {
      invocation.answer.resolve({ kind: "buffered", payload: await text(request) });
    }
    this.#invocation = undefined;
    response.writeHead(202).end();
    this.#checkIdle();
  }

  /** Gives the stream to whom it is for and waits for its end. */
  async #passOn(request: IncomingMessage, { answer, signal }: Invocation): Promise<void> {
    const { socket } = request;
    try {
      const streamed = await readStreamedAnswer(request);
      answer.resolve(streamed);
      if (signal?.aborted) streamed.body.destroy();
      await finished(streamed.body);
    } catch (error) {
      answer.reject(error);
      if (request.complete) return;
      // AWS's client does not survive a response that is cut off. When it is the reader who left, that is no crash.
      this.#quiet ||= !socket.destroyed;
      socket.destroy();
      setTimeout(() => this.#child?.kill("SIGKILL"), cutOffMs).unref();
    }
  }

  /** After a handler that threw before its first byte, the runtime asks for the next event before it posts the error. */
  #checkIdle(): void {
    if (this.#next !== undefined && this.#invocation === undefined) this.#idle.resolve();
  }

  #spawn(): void {
    const { directory, environment, handler, memoryMegabytes, name } = this.#definition;
    if (this.#failure !== undefined) return;
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The Runtime API has no port");
    // The share of memory that Lambda's own bootstrap gives to old and new space.
    const semiSpace = Math.floor(memoryMegabytes / 20);
    const child = spawn(
      process.execPath,
      [
        `--max-semi-space-size=${semiSpace}`,
        `--max-old-space-size=${Math.floor(memoryMegabytes * 0.9)}`,
        "--import",
        new URL("rapid-client.mjs", import.meta.url).href,
        runtimeClient,
      ],
      {
        cwd: directory,
        // A group of its own: Ctrl-C is for the one that stops the others.
        detached: process.platform !== "win32",
        windowsHide: true,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          ...environment,
          ...(process.platform === "win32" ? { SystemRoot: process.env["SystemRoot"] } : {}),
          AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${address.port}`,
          AWS_LAMBDA_FUNCTION_NAME: name,
          AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
          AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
          AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
          AWS_LAMBDA_LOG_STREAM_NAME: `local/[$LATEST]${randomUUID()}`,
          AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
          LAMBDA_TASK_ROOT: directory,
          TZ: ":UTC",
          _HANDLER: handler,
        },
      },
    );
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => this.#log(line));
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (!this.#quiet) this.#log(line);
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
    const requestId = this.#invocation?.requestId;
    if (!this.#quiet)
      this.#log(`${this.#definition.name}: ${failure.message}${requestId ? `, request ${requestId}` : ""}`);
    this.#server.close();
    this.#server.closeAllConnections();
    this.#ready.reject(failure);
    this.#invocation?.answer.reject(failure);
    this.#ended.resolve();
  }
}
