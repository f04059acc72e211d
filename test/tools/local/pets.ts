import { join } from "node:path";
import { Readable } from "node:stream";
import {
  createGateway,
  type GatewayOptions,
} from "../../../infra/tools/local/gateway/gateway.ts";
import type { FunctionResponse } from "../../../infra/tools/local/lambda/execution-environment.ts";
import type { LambdaHost } from "../../../infra/tools/local/lambda/lambda-host.ts";
import { listen } from "../../../infra/tools/local/machine/ports.ts";
import type { FunctionDefinition } from "../../../infra/tools/local/template/functions.ts";
import type {
  ApiMethod,
  TokenAuthorizer,
} from "../../../infra/tools/local/template/rest-api.ts";
import { type RequestOptions, send } from "../../helpers/send.ts";

/** The integration of each route, like `GET /pets/{petId}`, with its authorizer. */
type Routes = Record<
  string,
  ApiMethod["Integration"] & { authorizer?: TokenAuthorizer | undefined }
>;

const constant = { id: "", name: "", type: "", headers: {} };

export const mock = (status: number, authorizer?: TokenAuthorizer): Routes[string] => ({
  authorizer,
  Type: "MOCK",
  PassthroughBehavior: "NEVER",
  RequestTemplates: { "application/json": "" },
  IntegrationResponses: [{ ...constant, status, body: '{"cat":"é"}' }],
});

export const invoking = (Uri: string, changes: object = {}): Routes[string] => ({
  Type: "AWS_PROXY",
  Uri,
  ResponseTransferMode: "BUFFERED",
  TimeoutInMillis: 29_000,
  ...changes,
});
export const streaming = (name: string, changes: object = {}) =>
  invoking(name, { ResponseTransferMode: "STREAM", ...changes });

/** Admits no token with an exclamation mark. */
export const authorizer = (id: string): TokenAuthorizer => ({
  id,
  name: id,
  Type: "TOKEN",
  AuthorizerUri: "authorize",
  IdentitySource: "Authorization",
  IdentityValidationExpression: /^[^!]*$/,
  AuthorizerResultTtlInSeconds: 10,
});

const gatewayResponses = Object.entries({
  ACCESS_DENIED: 403,
  AUTHORIZER_FAILURE: 501,
  INTEGRATION_FAILURE: 502,
  INTEGRATION_TIMEOUT: 504,
  THROTTLED: 429,
  UNAUTHORIZED: 401,
}).map(([type, status]) => ({ ...constant, type, status, body: type }));

type PetFunction = (
  event: Record<string, string>,
  signal?: AbortSignal,
) => Promise<FunctionResponse>;

export const echo: PetFunction = async (event) => ({
  returned: { statusCode: 200, body: JSON.stringify({ event }) },
});

/** Streams a list of two orders. */
export const orders: PetFunction = async () => ({
  returned: { statusCode: 200 },
  body: Readable.from([Buffer.from('[{"id":1},{"id":2}]')]),
});

/** Starts a gateway over these functions, by name. */
export async function startPets(
  routes: Routes,
  functions: Record<string, PetFunction>,
  options: Partial<GatewayOptions> = {},
) {
  const methods = Object.entries(routes).map(
    ([route, { authorizer, ...Integration }]) => {
      const [HttpMethod = "", path = ""] = route.split(" ");
      return { HttpMethod, path, Integration, authorizer };
    },
  );
  const log: string[] = [];
  const api = { id: "Api", stageName: "v1", methods, gatewayResponses };
  const invoke: LambdaHost["invoke"] = async (name, event, signal) =>
    await (functions[name] ?? echo)(Object(event), signal);
  const serve = createGateway(api, invoke, {
    log: (line) => void log.push(line),
    ...options,
  });
  const { port, close } = await listen(0, serve);
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return {
    baseUrl,
    log,
    call: (path: string, request?: RequestOptions) => send(baseUrl + path, request),
    [Symbol.dispose]: close,
  };
}

/** Functions of `asset.pets`, by name. */
export const petFunctions = (functions: Record<string, Partial<FunctionDefinition>>) =>
  Object.entries(functions).map(
    ([name, changes]): FunctionDefinition => ({
      id: name,
      name,
      Code: { S3Key: "" },
      Handler: `index.${name}`,
      Runtime: "nodejs24.x",
      Timeout: 900,
      MemorySize: 128,
      Environment: { Variables: {} },
      LoggingConfig: { LogFormat: "JSON", ApplicationLogLevel: "INFO" },
      directory: join(import.meta.dirname, "asset.pets"),
      endpoint: "http://127.0.0.1:4000",
      inspectPort: undefined,
      ...changes,
    }),
  );
