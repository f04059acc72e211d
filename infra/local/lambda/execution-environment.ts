import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { freePort, listeningPort } from "../machine/ports.ts";
import {
  FunctionFailure,
  type FunctionResponse,
  readStreamedResponse,
  reportedFailure,
} from "./function-response.ts";
import { type FunctionDefinition, spawnRuntime } from "./runtime-process.ts";

/** One event on its way through a function. */
export interface Invocation {
  requestId: string;
  /** JSON text. */
  event: string;
  response: PromiseWithResolvers<FunctionResponse>;
  /** Aborts when no one waits for the response any more. */
  signal: AbortSignal | undefined;
}

/** What an execution environment tells its pool. */
export interface EnvironmentEvents {
  /** It waits for an event. */
  idle: () => void;
  /** Its process has ended. The failure is why its function could not be loaded. */
  ended: (initFailure: FunctionFailure | undefined) => void;
}

const initTimeoutSeconds = 10;
/** How long a process may take to notice and log that its response was cut off. */
const cutOffMs = 1_000;

const runtimePath =
  /^\/2018-06-01\/runtime\/(?:invocation|init)\/(?:(?<id>[^/]+)\/)?(?<call>next|response|error)$/;

/**
 * A process that runs AWS's own runtime interface client, one invocation at a time, and the Runtime
 * API that it takes events from and posts responses to.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export class ExecutionEnvironment {
  readonly #definition: FunctionDefinition;
  readonly #log: (line: string) => void;
  // A stream may take as long as its client; an idle runtime waits for its next event without
  // limit.
  readonly #server = createServer(
    { requestTimeout: 0, keepAliveTimeout: 0 },
    (request, response) => {
      // A request breaks off when its process ends, which says why.
      this.#serve(request, response).catch(() => {});
    },
  );
  readonly #onIdle: () => void;
  readonly #ended = Promise.withResolvers<void>();
  /** Where the API listens, like `127.0.0.1:54321`. */
  #address = "";
  #child: ReturnType<typeof spawnRuntime> | undefined;
  /** The runtime's pending request for an event. */
  #next: ServerResponse | undefined;
  #invocation: Invocation | undefined;
  /** Ends what takes too long: the start, or the invocation. */
  #limit: NodeJS.Timeout | undefined;
  #isLoaded = false;
  #failure: FunctionFailure | undefined;
  /** Whether its end is expected. Any other end is logged as a crash. */
  #endExpected = false;

  constructor(
    definition: FunctionDefinition,
    log: (line: string) => void,
    { idle, ended }: EnvironmentEvents,
  ) {
    this.#definition = definition;
    this.#log = log;
    this.#onIdle = idle;
    const { inspectPort, timeoutSeconds } = definition;
    this.#limitTo(inspectPort ? timeoutSeconds : initTimeoutSeconds, "Init");
    this.#start(inspectPort);
    this.#ended.promise.then(() => ended(this.#isLoaded ? undefined : this.#failure));
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether it takes an invocation now. */
  get isIdle(): boolean {
    return this.#next !== undefined && !this.isBusy;
  }

  /** Whether it takes none without further help. Otherwise it is idle, or soon will be. */
  get isBusy(): boolean {
    return this.#invocation !== undefined || this.#failure !== undefined;
  }

  /** Gives an idle environment its next event. */
  run(invocation: Invocation): void {
    const { arn, timeoutSeconds } = this.#definition;
    this.#invocation = invocation;
    this.#limitTo(timeoutSeconds, "Task");
    const headers = {
      "Content-Type": "application/json",
      "Lambda-Runtime-Aws-Request-Id": invocation.requestId,
      "Lambda-Runtime-Deadline-Ms": Date.now() + timeoutSeconds * 1000,
      "Lambda-Runtime-Invoked-Function-Arn": arn,
    };
    this.#next?.writeHead(200, headers).end(invocation.event);
    this.#next = undefined;
  }

  /** Ends the process. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#endExpected = true;
    this.#end(new FunctionFailure("The local stack is stopping"));
    await this.#ended.promise;
  }

  async #start(preferredPort: number | undefined): Promise<void> {
    this.#address = `127.0.0.1:${await listeningPort(this.#server)}`;
    const inspectPort = preferredPort && (await freePort("127.0.0.1", preferredPort));
    if (this.#failure !== undefined) return;
    const child = spawnRuntime(this.#definition, this.#address, inspectPort);
    this.#child = child;
    const { name } = this.#definition;
    if (inspectPort) this.#log(`${name}: a debugger can attach to 127.0.0.1:${inspectPort}`);
    createInterface({ input: child.stdout }).on("line", this.#log);
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (!this.#endExpected) this.#log(line);
    });
    child.on("error", (error) => this.#finish(error.message));
    child.on("close", (code, signal) =>
      this.#finish(signal === null ? `exit status ${code}` : `signal ${signal}`),
    );
  }

  #limitTo(seconds: number, what: "Init" | "Task"): void {
    const timeout = new FunctionFailure(`${what} timed out after ${seconds.toFixed(2)} seconds`);
    this.#limit = setTimeout(() => this.#end(timeout), seconds * 1000);
  }

  #end(reason: FunctionFailure): void {
    this.#failure ??= reason;
    if (this.#child === undefined) this.#finish("not started");
    else this.#child.kill("SIGKILL");
  }

  #finish(how: string): void {
    this.#failure ??= new FunctionFailure(`Runtime exited with ${how}`);
    const request = this.#invocation === undefined ? "" : `, request ${this.#invocation.requestId}`;
    if (!this.#endExpected)
      this.#log(`${this.#definition.name}: ${this.#failure.message}${request}`);
    clearTimeout(this.#limit);
    this.#server.close();
    this.#server.closeAllConnections();
    this.#invocation?.response.reject(this.#failure);
    this.#ended.resolve();
  }

  /**
   * Whether a request may be the runtime's. A page in a browser could otherwise take an event, with
   * the caller's key in it, or answer in the function's place.
   */
  #isFromRuntime({ headers, method, url = "" }: IncomingMessage): boolean {
    const isFromBrowser = Object.keys(headers).some((name) => /^(origin$|sec-fetch-)/.test(name));
    const expected = url.endsWith("/next") ? "GET" : "POST";
    return headers.host === this.#address && !isFromBrowser && method === expected;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#isFromRuntime(request)) {
      response.writeHead(403).end();
      return;
    }
    const { id, call } = runtimePath.exec(request.url ?? "")?.groups ?? {};
    if (call === "next") this.#next = response;
    else response.writeHead(await this.#receive(request, call, id)).end();
    // After a handler that threw before its first byte, the runtime asks for the next event before
    // it posts the error.
    if (!this.isIdle) return;
    clearTimeout(this.#limit);
    this.#isLoaded = true;
    this.#onIdle();
  }

  /** Receives what the runtime posts. Returns the status of the response to it. */
  async #receive(
    request: IncomingMessage,
    call: string | undefined,
    requestId: string | undefined,
  ): Promise<202 | 400> {
    if (call === "error" && requestId === undefined) {
      this.#failure ??= reportedFailure(await text(request));
      return 202;
    }
    const invocation = this.#invocation;
    if (invocation === undefined || invocation.requestId !== requestId) return 400;
    if (call === "error") invocation.response.reject(reportedFailure(await text(request)));
    else await this.#receiveResponse(request, invocation);
    this.#invocation = undefined;
    return 202;
  }

  async #receiveResponse(request: IncomingMessage, invocation: Invocation): Promise<void> {
    const { response, signal } = invocation;
    if (request.headers["lambda-runtime-function-response-mode"] !== "streaming") {
      return response.resolve({ kind: "buffered", payload: await text(request) });
    }
    // A destroyed request no longer has its socket.
    const { socket } = request;
    try {
      const streamed = await readStreamedResponse(request);
      response.resolve(streamed);
      // The client has left, and no one else would destroy the body.
      if (signal?.aborted) streamed.body.destroy();
      await finished(streamed.body);
    } catch (error) {
      response.reject(error);
      if (request.complete) return;
      // AWS's client does not survive that its response is cut off.
      this.#endExpected ||= !socket.destroyed;
      setTimeout(() => this.#child?.kill("SIGKILL"), cutOffMs).unref();
      socket.destroy();
      throw error;
    }
  }
}
