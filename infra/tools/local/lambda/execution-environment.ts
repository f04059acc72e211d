import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { addAbortSignal, PassThrough, pipeline, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { arnOf } from "../../running-stacks/local-account.ts";
import { listenOn } from "../machine/ports.ts";
import type { FunctionDefinition } from "../template/functions.ts";
import { startProcess } from "./runtime-process.ts";

/** One event on its way through a function. */
export interface Invocation {
  requestId: string;
  /** JSON text. */
  event: string;
  response: PromiseWithResolvers<FunctionResponse>;
  /** Aborts when no one waits for the response, or the rest of it, any more. */
  signal: AbortSignal;
}

export interface FunctionResponse {
  /** The value that the handler returned or, for a stream, passed to `HttpResponseStream.from`. */
  returned: unknown;
  /** The stream. Fails when the function does. Destroying it stops the invocation. */
  body?: Readable;
}

/** A function threw, crashed, timed out or could not be loaded, or its response is malformed. */
export class FunctionFailure extends Error {
  override name = "FunctionFailure";
}

const initTimeoutSeconds = 10;
const brokenOff = /"code":"E(CONNRESET|PIPE)"/;
/** Eight zero bytes end the metadata of a stream. */
const delimiter = Buffer.alloc(8);

/** The failure of whatever has not ended when the local stack stops. */
export const stopped = new FunctionFailure("The local stack has stopped");

/**
 * A process that runs AWS's own runtime interface client, one invocation at a time, and the Runtime
 * API that it takes events from and posts responses to.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export class ExecutionEnvironment {
  readonly #definition: FunctionDefinition;
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
  /** Aborts with the reason why its process ends. */
  readonly #ending = new AbortController();
  /** Where the API listens, like `127.0.0.1:54321`. */
  #address = "";
  /** The runtime's pending request for an event. */
  #next: ServerResponse | undefined;
  #invocation: Invocation | undefined;
  /** The latest one whose reader has left. Its function notices at the next byte. */
  #abandoned: Invocation | undefined;
  /** Ends what takes too long: the start, or the invocation. */
  #limit: NodeJS.Timeout | undefined;
  #isLoaded = false;
  pid: number | undefined;
  /** Resolves when its process has ended; with the reason if its function was never loaded. */
  readonly ended: Promise<FunctionFailure | undefined>;

  /** @param take gives it the next invocation, if one waits. */
  constructor(
    definition: FunctionDefinition,
    log: (line: string) => void,
    take: () => Invocation | undefined,
  ) {
    this.#definition = definition;
    this.#take = take;
    const { inspectPort, Timeout } = definition;
    this.#limitTo(inspectPort ? Timeout : initTimeoutSeconds, "Init");
    this.ended = this.#run(log);
  }

  /** Whether it takes none without further help. Otherwise it is idle, or soon will be. */
  get isBusy(): boolean {
    return this.#invocation !== undefined || this.#ending.signal.aborted;
  }

  /** Begins the next invocation, if it is idle and one waits. */
  begin() {
    // After a handler that threw before its first byte, the runtime asks for the next event before
    // it posts the error.
    if (this.#next === undefined || this.isBusy) return;
    clearTimeout(this.#limit);
    const invocation = this.#take();
    if (invocation === undefined) return;
    this.#invocation = invocation;
    const { name, Timeout } = this.#definition;
    this.#limitTo(Timeout, "Task");
    const headers = {
      "Lambda-Runtime-Aws-Request-Id": invocation.requestId,
      "Lambda-Runtime-Deadline-Ms": Date.now() + Timeout * 1000,
      "Lambda-Runtime-Invoked-Function-Arn": arnOf("lambda", `function:${name}`),
    };
    this.#next.writeHead(200, headers).end(invocation.event);
    this.#next = undefined;
  }

  /** Ends the process. Resolves when it has ended. */
  async stop() {
    this.#ending.abort(stopped);
    await this.ended;
  }

  async #run(log: (line: string) => void) {
    const { name } = this.#definition;
    const { signal } = this.#ending;
    this.#address = `127.0.0.1:${await listenOn(this.#server)}`;
    const logOutput = (line: string) => {
      // The runtime logs as an error of the function that its reader has left.
      const requestId = this.#abandoned?.requestId;
      if (!requestId || !line.includes(requestId) || !brokenOff.test(line)) log(line);
    };
    const child = await startProcess(this.#definition, this.#address, logOutput, signal);
    this.pid = child.pid;
    const how = await once(child, "close").then(
      ([code, killer]) => (killer === null ? `exit status ${code}` : `signal ${killer}`),
      (error: Error) => error.message,
    );
    this.#ending.abort(new FunctionFailure(`Runtime exited with ${how}`));
    const { reason } = signal;
    const invocation = this.#invocation;
    const request = invocation === undefined ? "" : `, request ${invocation.requestId}`;
    if (reason !== stopped) log(`${name}: ${reason.message}${request}`);
    clearTimeout(this.#limit);
    this.#server.close();
    this.#server.closeAllConnections();
    invocation?.response.reject(reason);
    return this.#isLoaded ? undefined : reason;
  }

  #limitTo(seconds: number, what: "Init" | "Task") {
    const timeout = new FunctionFailure(
      `${what} timed out after ${seconds.toFixed(2)} seconds`,
    );
    this.#limit = setTimeout(() => this.#ending.abort(timeout), seconds * 1000);
  }

  /**
   * Whether a request may be the runtime's. A page in a browser could otherwise take an event, with
   * the caller's key in it, or answer in the function's place.
   */
  #isFromRuntime({ headers }: IncomingMessage) {
    const isFromBrowser = "origin" in headers || "sec-fetch-site" in headers;
    return headers.host === this.#address && !isFromBrowser;
  }

  async #serve(request: IncomingMessage, response: ServerResponse) {
    if (!this.#isFromRuntime(request)) {
      response.writeHead(403).end();
      return;
    }
    if (request.url?.endsWith("/next")) {
      this.#isLoaded = true;
      this.#next = response;
      if (this.#invocation === this.#abandoned) this.#invocation = undefined;
    } else {
      const invocation = this.#invocation;
      // A failure outside an invocation means that the function could not be loaded.
      if (invocation === undefined) this.#ending.abort(readFailure(await text(request)));
      else if (!(await receive(request, invocation))) {
        this.#abandoned = invocation;
        return;
      }
      this.#invocation = undefined;
      response.writeHead(202).end();
    }
    this.begin();
  }
}

/**
 * Receives what the runtime posts: a response, or why there is none.
 *
 * @returns whether it came to its end. Otherwise its reader has left, or the process has ended.
 */
async function receive(request: IncomingMessage, { response, signal }: Invocation) {
  // A destroyed request no longer has its socket.
  const { headers, socket, url } = request;
  try {
    if (url?.endsWith("/error")) throw readFailure(await text(request));
    if (headers["lambda-runtime-function-response-mode"] === "streaming") {
      const streamed = await readStream(request);
      addAbortSignal(signal, streamed.body);
      response.resolve(streamed);
      await finished(streamed.body);
    } else response.resolve({ returned: JSON.parse(await text(request)) });
  } catch (error) {
    // A process that ends while it posts has failed. What is malformed is our own failure.
    response.reject(request.complete ? error : new FunctionFailure(`${error}`));
    if (!request.complete) socket.destroy();
  }
  return request.complete;
}

/**
 * Reads a streamed response up to its body: JSON metadata, a delimiter, the body.
 *
 * @throws FunctionFailure when the handler failed before its first byte, or streams without
 * metadata; SyntaxError when that is not JSON.
 */
async function readStream(request: IncomingMessage) {
  // Destroying a stream over a generator would wait for the function's next byte.
  const body = new PassThrough({ flush: (done) => done(failureInTrailers(request)) });
  // A failure before anyone reads must not end this process.
  body.on("error", () => {});
  // A failure destroys the body, whose reader then sees it.
  pipeline(request, body, () => {});
  let head = Buffer.alloc(0);
  const chunks: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(delimiter);
    if (end < 0) continue;
    body.unshift(head.subarray(end + delimiter.length));
    return { returned: JSON.parse(head.toString("utf8", 0, end)) as unknown, body };
  }
  throw new FunctionFailure("The response has no HTTP metadata");
}

/** The failure that the runtime reports as JSON: `{"errorType","errorMessage","trace"}`. */
function readFailure(json: string) {
  return new FunctionFailure(JSON.parse(json).errorMessage);
}

/** The failure that the runtime reports after the last byte of a response. */
function failureInTrailers({ trailers }: IncomingMessage) {
  const report = trailers["lambda-runtime-function-error-body"];
  return report === undefined
    ? undefined
    : readFailure(Buffer.from(report, "base64").toString());
}
