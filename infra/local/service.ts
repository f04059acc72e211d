import type { IncomingMessage, ServerResponse } from "node:http";
import { readRestApi } from "../template/rest-api.ts";
import { type Build, build } from "./build.ts";
import { readFunctions } from "./functions.ts";
import { Gateway, type GatewayOptions } from "./gateway/gateway.ts";
import { createLambdaHost, type LambdaHost, type LambdaHostOptions } from "./lambda/lambda-host.ts";

/** The gateway and the functions of one build. */
export class Service {
  readonly host: LambdaHost;
  readonly stageName: string;
  readonly #build: Build;
  readonly #gateway: Gateway;
  readonly #requests = new Set<Promise<void>>();

  constructor(build: Build, endpoint: string, options: GatewayOptions & LambdaHostOptions) {
    const api = readRestApi(build.template);
    this.#build = build;
    this.stageName = api.stageName;
    this.host = createLambdaHost(readFunctions(build, endpoint), options);
    this.#gateway = new Gateway(api, this.host, options);
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const served = this.#gateway.serve(request, response).finally(() => this.#requests.delete(served));
    this.#requests.add(served);
  }

  /** Resolves when the requests under way have their responses. */
  async drain(): Promise<void> {
    await Promise.all(this.#requests);
  }

  /** Ends the functions' processes and removes the build. */
  async stop(): Promise<void> {
    await this.host.stop();
    await this.#build[Symbol.asyncDispose]();
  }
}

/** Serves with the latest build that works. */
export class LiveService {
  #current: Service;
  readonly #running: Set<Service>;

  constructor(first: Service) {
    this.#current = first;
    this.#running = new Set([first]);
  }

  get current(): Service {
    return this.#current;
  }

  /** Builds again and serves that. When it can't, the last good build goes on serving, and the log says why. */
  async rebuild(
    open: (built: Build) => Promise<Service>,
    { signal, log }: { signal: AbortSignal; log: (line: string) => void },
  ): Promise<void> {
    const begun = performance.now();
    try {
      await using unused = new AsyncDisposableStack();
      this.#replace(await open(unused.use(await build(signal))));
      unused.move();
      log(`Rebuilt in ${((performance.now() - begun) / 1000).toFixed(1)} s.`);
    } catch (error) {
      if (!signal.aborted) log(`The last good build still serves. ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Sends new requests to the next service. The one before ends when its requests have their responses. */
  #replace(next: Service): void {
    const previous = this.#current;
    this.#current = next;
    this.#running.add(next);
    previous.drain().then(async () => {
      await previous.stop();
      this.#running.delete(previous);
    });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((service) => service.stop()));
  }
}
