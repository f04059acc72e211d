import type { IncomingMessage, ServerResponse } from "node:http";
import { readFunctions } from "./functions.ts";
import { createGateway, type GatewayOptions } from "./gateway/gateway.ts";
import { createLambdaHost, type LambdaHostOptions } from "./lambda/lambda-host.ts";
import { serveApiPage } from "./page/api-page.ts";
import { readRestApi } from "./template/rest-api.ts";
import type { SynthesisedStack } from "./template/synthesis.ts";

/** The gateway and the functions of one build, and the requests under way. */
export type Service = ReturnType<typeof openService>;

/**
 * Opens the service of a build, and the page that shows it.
 *
 * @param endpoint where the functions find DynamoDB.
 * @param apiKey the key that the page begins with.
 * @throws CommandError for any part of the build that can't be served.
 */
export function openService(
  stack: SynthesisedStack,
  endpoint: string,
  apiKey: string,
  options: GatewayOptions & LambdaHostOptions,
) {
  const api = readRestApi(stack.template);
  const { notServed } = stack.template;
  if (notServed.length > 0)
    options.log(
      `Not served: ${notServed.join(", ")} (see infra/local/template/stack-template.ts)`,
    );
  const { inspect = false } = options;
  const functions = readFunctions(stack, endpoint, inspect);
  // A debugger that is attached to one process would miss the requests of another.
  const limits = inspect ? { maxEnvironments: 1 } : {};
  const host = createLambdaHost(functions, { ...options, ...limits });
  const serveApi = createGateway(api, host, options);
  const basePath = `/${api.stageName}`;
  return {
    basePath,
    serve: async (request: IncomingMessage, response: ServerResponse) => {
      if (!serveApiPage({ basePath, apiKey }, request, response))
        await serveApi(request, response);
    },
    requests: new Set<Promise<void>>(),
    /** Starts what a debugger attaches to, before the first request. */
    begin: () => inspect && host.warm(),
    stop: host.stop,
  };
}

/** Serves with the latest build that works. Until there is one, requests wait. */
export function createLiveService() {
  const first = Promise.withResolvers<Service>();
  let latest = first.promise;
  const running = new Set<Service>();
  return {
    serve: async (request: IncomingMessage, response: ServerResponse) => {
      const { serve, requests } = await latest;
      const served = serve(request, response).finally(() => requests.delete(served));
      requests.add(served);
    },
    /** Sends new requests to this service, and ends the one before once its requests have. */
    use: async (next: Service) => {
      const earlier = [...running];
      running.add(next);
      first.resolve(next);
      latest = Promise.resolve(next);
      for (const service of earlier) {
        await Promise.all(service.requests);
        await service.stop();
        running.delete(service);
      }
      // Its functions then get the same debugger ports.
      next.begin();
    },
    stop: async () => {
      await Promise.all([...running].map((service) => service.stop()));
    },
  };
}
