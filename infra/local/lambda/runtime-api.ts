import { EventEmitter } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { listeningPort } from "../machine/ports.ts";
import {
  type FunctionFailure,
  type FunctionResponse,
  readStreamedResponse,
  reportedFailure,
} from "./function-response.ts";

/** One event on its way through a function. */
export interface Invocation {
  requestId: string;
  /** JSON text. */
  event: string;
  response: PromiseWithResolvers<FunctionResponse>;
  /** Aborts when no one waits for the response any more. */
  signal: AbortSignal | undefined;
}

interface RuntimeEvents {
  /** The runtime waits for an event and has posted the last response. */
  idle: [];
  /** The function could not be loaded. */
  initFailed: [failure: FunctionFailure];
  /** A streamed response was cut off, which AWS's client does not survive. */
  cutOff: [by: "reader" | "runtime"];
}

const runtimePath =
  /^\/2018-06-01\/runtime\/(?:invocation|init)\/(?:(?<id>[^/]+)\/)?(?<call>next|response|error)$/;

/**
 * The Runtime API as one execution environment sees it: hands out events, takes responses.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export class RuntimeApi extends EventEmitter<RuntimeEvents> {
  // A stream may take as long as its client; an idle runtime waits for its next event without
  // limit.
  readonly #server = createServer(
    { requestTimeout: 0, keepAliveTimeout: 0 },
    (request, response) => {
      if (!this.#isFromRuntime(request)) {
        response.writeHead(403).end();
        return;
      }
      // A request breaks off when its process ends; the execution environment sees to that.
      this.#serve(request, response).catch(() => {});
    },
  );
  /** Where it listens, like `127.0.0.1:54321`. */
  #address = "";
  /** The runtime's pending request for an event. */
  #next: ServerResponse | undefined;
  /** The invocation under way. */
  invocation: Invocation | undefined;

  /** Starts to listen, and resolves with the value for `AWS_LAMBDA_RUNTIME_API`. */
  async listen(): Promise<string> {
    this.#address = `127.0.0.1:${await listeningPort(this.#server)}`;
    return this.#address;
  }

  /**
   * Without an invocation, the runtime is idle, or will be: it is starting, or has just posted a
   * response.
   */
  get state(): "busy" | "idle" | "becoming idle" {
    if (this.invocation !== undefined) return "busy";
    return this.#next === undefined ? "becoming idle" : "idle";
  }

  /** Gives an idle runtime its next event. */
  invoke(invocation: Invocation, headers: Record<string, string | number>): void {
    this.invocation = invocation;
    this.#next
      ?.writeHead(200, { "Content-Type": "application/json", ...headers })
      .end(invocation.event);
    this.#next = undefined;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
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
    const { id, call } = runtimePath.exec(request.url ?? "")?.groups ?? {};
    if (call === "next") this.#next = response;
    else response.writeHead(await this.#receive(request, call, id)).end();
    // After a handler that threw before its first byte, the runtime asks for the next event before
    // it posts the error.
    if (this.state === "idle") this.emit("idle");
  }

  /** Receives what the runtime posts. Returns the status of the response to it. */
  async #receive(
    request: IncomingMessage,
    call: string | undefined,
    requestId: string | undefined,
  ): Promise<202 | 400> {
    if (call === "error" && requestId === undefined) {
      this.emit("initFailed", reportedFailure(await text(request)));
      return 202;
    }
    const { invocation } = this;
    if (invocation === undefined || invocation.requestId !== requestId) return 400;
    if (call === "error") invocation.response.reject(reportedFailure(await text(request)));
    else await this.#receiveResponse(request, invocation);
    this.invocation = undefined;
    return 202;
  }

  async #receiveResponse(
    request: IncomingMessage,
    { response, signal }: Invocation,
  ): Promise<void> {
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
      this.emit("cutOff", socket.destroyed ? "runtime" : "reader");
      socket.destroy();
      throw error;
    }
  }
}
