import type { RequestListener } from "node:http";
import { readRestApi } from "../template/rest-api.ts";
import type { SynthesisedStack } from "../template/synthesis.ts";
import { readFunctions } from "./functions.ts";
import { Gateway, type GatewayOptions } from "./gateway/gateway.ts";
import { createLambdaHost, type LambdaHostOptions } from "./lambda/lambda-host.ts";

/** The gateway and the functions of one build, and the requests under way. */
export type Service = ReturnType<typeof openService>;

/**
 * Opens the service of a build. Its DynamoDB is at the endpoint. No process starts yet.
 *
 * @throws TemplateError for any part of the template that the local stack can't serve.
 */
export function openService(stack: SynthesisedStack, endpoint: string, options: GatewayOptions & LambdaHostOptions) {
  const api = readRestApi(stack.template);
  const host = createLambdaHost(readFunctions(stack, endpoint), options);
  return {
    stageName: api.stageName,
    host,
    gateway: new Gateway(api, host, options),
    requests: new Set<Promise<void>>(),
  };
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

  readonly serve: RequestListener = (request, response) => {
    const { gateway, requests } = this.#current;
    const served = gateway.serve(request, response).finally(() => requests.delete(served));
    requests.add(served);
  };

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
    await Promise.all(service.requests);
    await service.host.stop();
    this.#running.delete(service);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map(({ host }) => host.stop()));
  }
}
