import { addAbortListener } from "node:events";
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
  /** Aborts when no one waits for the response, or the rest of it, any more. */
  signal: AbortSignal;
}

const initTimeoutSeconds = 10;
const brokenOff = /"code":"E(CONNRESET|PIPE)"/;

/**
 * A process that runs AWS's own runtime interface client, one invocation at a time, and the Runtime
 * API that it takes events from and posts responses to.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export class ExecutionEnvironment {
  readonly #definition: FunctionDefinition;
  readonly #log: (line: string) => void;
  readonly #take: () => Invocation | undefined;
  // A stream may take as long as its client; an idle runtime waits for its next event without
  // limit.
  readonly #server = createServer(
    { requestTimeout: 0, keepAliveTimeout: 0 },
    (request, response) => {
      // A request breaks off when its process ends, which says why.
      this.#serve(request, response).catch(() => {});
    },
  );
  readonly #end = Promise.withResolvers<FunctionFailure | undefined>();
  /** Resolves when its process has ended: with the reason if its function could not be loaded. */
  readonly ended = this.#end.promise;
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
  /** The latest one whose reader has left. Its function notices at the next byte. */
  #abandoned: Invocation | undefined;
  #isStopping = false;

  /** @param take gives it the next invocation, if one waits. */
  constructor(
    definition: FunctionDefinition,
    log: (line: string) => void,
    take: () => Invocation | undefined,
  ) {
    this.#definition = definition;
    this.#log = log;
    this.#take = take;
    const { inspectPort, timeoutSeconds } = definition;
    this.#limitTo(inspectPort ? timeoutSeconds : initTimeoutSeconds, "Init");
    this.#start();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether it takes none without further help. Otherwise it is idle, or soon will be. */
  get isBusy(): boolean {
    return this.#invocation !== undefined || this.#failure !== undefined;
  }

  /** Begins the next invocation, if it is idle and one waits. */
  begin(): void {
    // After a handler that threw before its first byte, the runtime asks for the next event before
    // it posts the error.
    if (this.#next === undefined || this.isBusy) return;
    clearTimeout(this.#limit);
    this.#isLoaded = true;
    const invocation = this.#take();
    if (invocation === undefined) return;
    this.#invocation = invocation;
    const { arn, timeoutSeconds } = this.#definition;
    this.#limitTo(timeoutSeconds, "Task");
    const headers = {
      "Content-Type": "application/json",
      "Lambda-Runtime-Aws-Request-Id": invocation.requestId,
      "Lambda-Runtime-Deadline-Ms": Date.now() + timeoutSeconds * 1000,
      "Lambda-Runtime-Invoked-Function-Arn": arn,
    };
    this.#next.writeHead(200, headers).end(invocation.event);
    this.#next = undefined;
  }

  /** Ends the process. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#kill(new FunctionFailure("The local stack has stopped"));
    await this.ended;
  }

  async #start(): Promise<void> {
    const { inspectPort: preferredPort, name } = this.#definition;
    this.#address = `127.0.0.1:${await listeningPort(this.#server)}`;
    const inspectPort = preferredPort && (await freePort("127.0.0.1", preferredPort));
    if (inspectPort)
      this.#log(`${name}: a debugger can attach to 127.0.0.1:${inspectPort}`);
    const child = spawnRuntime(this.#definition, this.#address, inspectPort);
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      // The runtime logs as an error of the function that its reader has left.
      const requestId = this.#abandoned?.requestId;
      if (!requestId || !line.includes(requestId) || !brokenOff.test(line)) this.#log(line);
    });
    createInterface({ input: child.stderr }).on("line", this.#log);
    child.on("error", (error) => this.#finish(error.message));
    child.on("close", (code, signal) =>
      this.#finish(signal === null ? `exit status ${code}` : `signal ${signal}`),
    );
    // It may have been stopped meanwhile.
    if (this.#failure !== undefined) child.kill("SIGKILL");
  }

  #limitTo(seconds: number, what: "Init" | "Task"): void {
    const timeout = new FunctionFailure(
      `${what} timed out after ${seconds.toFixed(2)} seconds`,
    );
    this.#limit = setTimeout(() => this.#kill(timeout), seconds * 1000);
  }

  #kill(reason: FunctionFailure): void {
    this.#failure ??= reason;
    this.#child?.kill("SIGKILL");
  }

  #finish(how: string): void {
    this.#failure ??= new FunctionFailure(`Runtime exited with ${how}`);
    const request =
      this.#invocation === undefined ? "" : `, request ${this.#invocation.requestId}`;
    if (!this.#isStopping)
      this.#log(`${this.#definition.name}: ${this.#failure.message}${request}`);
    clearTimeout(this.#limit);
    this.#server.close();
    this.#server.closeAllConnections();
    this.#invocation?.response.reject(this.#failure);
    this.#end.resolve(this.#isLoaded ? undefined : this.#failure);
  }

  /**
   * Whether a request may be the runtime's. A page in a browser could otherwise take an event, with
   * the caller's key in it, or answer in the function's place.
   */
  #isFromRuntime({ headers, method, url = "" }: IncomingMessage): boolean {
    const isFromBrowser = "origin" in headers || "sec-fetch-site" in headers;
    const expected = url.endsWith("/next") ? "GET" : "POST";
    return headers.host === this.#address && !isFromBrowser && method === expected;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#isFromRuntime(request)) {
      response.writeHead(403).end();
      return;
    }
    if (request.url?.endsWith("/next")) {
      this.#next = response;
      if (this.#invocation === this.#abandoned) this.#invocation = undefined;
    } else {
      await this.#receive(request);
      response.writeHead(202).end();
    }
    this.begin();
  }

  /** Receives what the runtime posts: a response, or why there is none. */
  async #receive(request: IncomingMessage): Promise<void> {
    const invocation = this.#invocation;
    if (request.url?.endsWith("/error")) {
      const failure = reportedFailure(await text(request));
      // Without an invocation, the function could not be loaded.
      if (invocation === undefined) this.#failure ??= failure;
      else invocation.response.reject(failure);
    } else if (invocation !== undefined) await this.#receiveResponse(request, invocation);
    this.#invocation = undefined;
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
      using _ = addAbortListener(signal, () => streamed.body.destroy());
      response.resolve(streamed);
      await finished(streamed.body);
    } catch (error) {
      response.reject(error);
      if (request.complete) return;
      // Otherwise the process has ended, which says why.
      if (!socket.destroyed) this.#abandoned = invocation;
      socket.destroy();
      throw error;
    }
  }
}
