import type { IncomingMessage, ServerResponse } from "node:http";
import { createGateway, type GatewayOptions } from "./gateway/gateway.ts";
import { createLambdaHost, type LambdaHostOptions } from "./lambda/lambda-host.ts";
import { serveApiPage } from "./page/api-page.ts";
import { readFunctions } from "./template/functions.ts";
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
      `Not served: ${notServed.join(", ")} (see infra/tools/local/template/stack-template.ts)`,
    );
  const functions = readFunctions(stack, endpoint, options.inspect);
  const host = createLambdaHost(functions, options);
  const serveApi = createGateway(api, host.invoke, options);
  const basePath = `/${api.stageName}`;
  return {
    basePath,
    serve: async (request: IncomingMessage, response: ServerResponse) => {
      if (!serveApiPage({ basePath, apiKey }, request, response))
        await serveApi(request, response);
    },
    /** Resolves once every request under way has been served. */
    requests: Promise.resolve(),
    /** Starts what a debugger attaches to, before the first request. */
    begin: () => options.inspect && host.warm(),
    stop: host.stop,
  };
}

/** Serves with the latest build that works. Until there is one, requests wait. */
export function createLiveService() {
  const first = Promise.withResolvers<Service>();
  let latest: Service | undefined;
  return {
    serve: async (request: IncomingMessage, response: ServerResponse) => {
      const service = latest ?? (await first.promise);
      const served = service.serve(request, response);
      service.requests = service.requests.then(() => served);
    },
    /** Sends new requests to this service, and ends the one before once its requests have. */
    use: async (next: Service) => {
      const earlier = latest;
      latest = next;
      first.resolve(next);
      await earlier?.requests;
      await earlier?.stop();
      // The earlier service has stopped, so the new functions get the same debugger ports.
      next.begin();
    },
    /** Ends the latest; one before it ends with its connections. */
    stop: () => latest?.stop(),
  };
}
