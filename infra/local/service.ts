import type { IncomingMessage, ServerResponse } from "node:http";
import { readFunctions } from "./functions.ts";
import { createGateway, type GatewayOptions } from "./gateway/gateway.ts";
import { createLambdaHost, type LambdaHostOptions } from "./lambda/lambda-host.ts";
import { readRestApi } from "./template/rest-api.ts";
import type { SynthesisedStack } from "./template/synthesis.ts";

/** The gateway and the functions of one build, and the requests under way. */
export type Service = ReturnType<typeof openService>;

/**
 * Opens the service of a build, whose DynamoDB is at the endpoint.
 *
 * @throws CommandError for any part of the build that can't be served.
 */
export function openService(
  stack: SynthesisedStack,
  endpoint: string,
  options: GatewayOptions & LambdaHostOptions,
) {
  const api = readRestApi(stack.template);
  const { notServed } = stack.template;
  if (notServed.length > 0)
    options.log(`Not served: ${notServed.join(", ")} (see infra/local/template/stack-template.ts)`);
  const { inspect = false } = options;
  const functions = readFunctions(stack, endpoint, inspect);
  // A debugger that is attached to one process would miss the requests of another.
  const limits = inspect ? { maxEnvironments: 1 } : {};
  const host = createLambdaHost(functions, { ...options, ...limits });
  return {
    stageName: api.stageName,
    serve: createGateway(api, host, options),
    requests: new Set<Promise<void>>(),
    /** Starts what a debugger attaches to, before the first request. */
    begin: () => inspect && host.warm(),
    stop: host.stop,
  };
}

/** Serves with the latest build that works, which is `first` to begin with. */
export function createLiveService(first: Service) {
  let current = first;
  const running = new Set([first]);
  first.begin();

  /** Sends new requests to another service, and ends the old one once its requests have. */
  const replace = async (next: Service): Promise<void> => {
    const old = current;
    current = next;
    running.add(next);
    await Promise.all(old.requests);
    await old.stop();
    running.delete(old);
    // Its functions then get the same debugger ports.
    next.begin();
  };
  return {
    serve: (request: IncomingMessage, response: ServerResponse): void => {
      const { serve, requests } = current;
      const served = serve(request, response).finally(() => requests.delete(served));
      requests.add(served);
    },
    /** Opens another service in its place. If it can't be opened, the log says why. */
    rebuild: async (
      open: () => Promise<Service>,
      signal: AbortSignal,
      log: (line: string) => void,
    ): Promise<void> => {
      const begun = performance.now();
      try {
        replace(await open());
        log(`Rebuilt in ${((performance.now() - begun) / 1000).toFixed(1)} s.`);
      } catch (error) {
        if (!signal.aborted) log(`The last good build still serves. ${Object(error).message}`);
      }
    },
    stop: async (): Promise<void> => {
      await Promise.all([...running].map((service) => service.stop()));
    },
  };
}
