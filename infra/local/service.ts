import type { IncomingMessage, ServerResponse } from "node:http";
import { readRestApi } from "../template/rest-api.ts";
import type { SynthesisedStack } from "../template/synthesis.ts";
import { readFunctions } from "./functions.ts";
import { Gateway, type GatewayOptions } from "./gateway/gateway.ts";
import { createLambdaHost, type LambdaHost, type LambdaHostOptions } from "./lambda/lambda-host.ts";

/** The gateway and the functions of one build. */
export class Service {
  readonly host: LambdaHost;
  readonly stageName: string;
  readonly #gateway: Gateway;
  readonly #requests = new Set<Promise<void>>();

  constructor(stack: SynthesisedStack, endpoint: string, options: GatewayOptions & LambdaHostOptions) {
    const api = readRestApi(stack.template);
    this.stageName = api.stageName;
    this.host = createLambdaHost(readFunctions(stack, endpoint), options);
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

  /** Sends new requests to the service that opens. When none does, the last one goes on, and the log says why. */
  async replace(
    open: () => Promise<Service>,
    { signal, log }: { signal: AbortSignal; log: (line: string) => void },
  ): Promise<void> {
    const begun = performance.now();
    try {
      const next = await open();
      this.#running.add(next);
      this.#retire(this.#current);
      this.#current = next;
      log(`Rebuilt in ${((performance.now() - begun) / 1000).toFixed(1)} s.`);
    } catch (error) {
      if (!signal.aborted) log(`The last good build still serves. ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Ends a service when its requests have their responses. */
  async #retire(service: Service): Promise<void> {
    await service.drain();
    await service.host.stop();
    this.#running.delete(service);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map(({ host }) => host.stop()));
  }
}
