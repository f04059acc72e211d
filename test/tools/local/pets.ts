import { basename, dirname } from "node:path/posix";
import { setImmediate } from "node:timers/promises";
import {
  type LocalStackOptions,
  startLocalStack,
} from "../../../infra/tools/local/local-stack.ts";
import { readStackTemplate } from "../../../infra/tools/local/template/stack-template.ts";
import { functionProcesses } from "../../helpers/processes.ts";
import { type RequestOptions, send } from "../../helpers/send.ts";

/** The integration of each route, like `GET /pets/{petId}`, with its function and authorizer. */
type Routes = Record<string, { Type: string; lambda?: string; authorizer?: string }>;

const resource = (type: string, Properties: Record<string, unknown>) => ({
  Type: `AWS::${type}`,
  Properties,
});
const constant = (body: string) => ({ ResponseTemplates: { "application/json": body } });

export const mock = (StatusCode: number) => ({
  Type: "MOCK",
  PassthroughBehavior: "NEVER",
  RequestTemplates: { "application/json": JSON.stringify({ statusCode: StatusCode }) },
  IntegrationResponses: [{ StatusCode: `${StatusCode}`, ...constant('{"cat":"é"}') }],
});

export const uri = (target: unknown) => {
  const functions = "arn:aws:apigateway:us-east-1:lambda:path/functions/";
  return { "Fn::Join": ["", [functions, target, "/invocations"]] };
};
export const invoking = (name: string, changes: object = {}) => ({
  lambda: name,
  Type: "AWS_PROXY",
  Uri: uri({ Ref: `${name}:live` }),
  ...changes,
});
export const streaming = (name: string, changes: object = {}) =>
  invoking(name, { ResponseTransferMode: "STREAM", ...changes });

function lambda(name: string, changes: object | undefined) {
  return resource("Lambda::Function", {
    Code: { S3Bucket: "assets", S3Key: "pets.zip" },
    Handler: `index.${name}`,
    Runtime: "nodejs24.x",
    Timeout: 900,
    MemorySize: 128,
    Environment: { Variables: {} },
    LoggingConfig: { LogFormat: "JSON", ApplicationLogLevel: "INFO" },
    ...changes,
  });
}

/** Admits no token with an exclamation mark. */
const authorizer = resource("ApiGateway::Authorizer", {
  Type: "TOKEN",
  AuthorizerUri: uri({ Ref: "authorize:live" }),
  IdentitySource: "method.request.header.Authorization",
  IdentityValidationExpression: "^[^!]*$",
  AuthorizerResultTtlInSeconds: 10,
});

function table(AttributeName: string, AttributeType: string) {
  return resource("DynamoDB::Table", {
    KeySchema: [{ AttributeName, KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName, AttributeType }],
    BillingMode: "PAY_PER_REQUEST",
  });
}

const gatewayResponses = {
  ACCESS_DENIED: "403",
  AUTHORIZER_FAILURE: "501",
  INTEGRATION_FAILURE: "502",
  INTEGRATION_TIMEOUT: "504",
  THROTTLED: "429",
  UNAUTHORIZED: "401",
};

/** The resources of an API. A logical id is a path, a route or a name. */
export function petResources(routes: Routes, changes: Record<string, object> = {}) {
  const resources: Record<string, ReturnType<typeof resource>> = {
    Api: resource("ApiGateway::RestApi", { Name: "pets" }),
    Stage: resource("ApiGateway::Stage", { StageName: "v1" }),
    Orders: table("id", "N"),
    ApiKeys: table("keyHash", "S"),
    Keys: authorizer,
    OtherKeys: authorizer,
  };
  for (const [ResponseType, StatusCode] of Object.entries(gatewayResponses)) {
    const properties = { ResponseType, StatusCode, ...constant(ResponseType) };
    resources[ResponseType] = resource("ApiGateway::GatewayResponse", properties);
  }
  const invoked = Object.values(routes).flatMap(({ lambda }) => lambda ?? []);
  for (const name of new Set([...invoked, "authorize"])) {
    resources[name] = lambda(name, changes[name]);
    const alias = { FunctionName: { Ref: name }, Name: "live" };
    resources[`${name}:live`] = resource("Lambda::Alias", alias);
  }
  const idOf = (path: string) =>
    path === "/" ? { "Fn::GetAtt": ["Api", "RootResourceId"] } : { Ref: path };
  for (const [route, { authorizer, lambda: _, ...Integration }] of Object.entries(
    routes,
  )) {
    const [HttpMethod, path = "/"] = route.split(" ");
    for (let at = path; at !== "/"; at = dirname(at)) {
      const properties = { ParentId: idOf(dirname(at)), PathPart: basename(at) };
      resources[at] = resource("ApiGateway::Resource", properties);
    }
    resources[route] = resource("ApiGateway::Method", {
      HttpMethod,
      ResourceId: idOf(path),
      Integration,
      AuthorizationType: authorizer ? "CUSTOM" : "NONE",
      ...(authorizer && { AuthorizerId: { Ref: authorizer } }),
    });
  }
  return resources;
}

export function petTemplate(Resources: object, outputs: object = {}) {
  const Outputs = {
    OrdersTableName: { Value: { Ref: "Orders" } },
    ApiKeysTableName: { Value: { Ref: "ApiKeys" } },
    ...outputs,
  };
  return readStackTemplate({ Resources, Outputs });
}

/** Waits for a condition without a timer, which `expect.poll` has, and moves if they are fake. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await setImmediate();
}

export async function startPets(
  routes: Routes,
  options: LocalStackOptions = {},
  changes?: Record<string, object>,
) {
  const log: string[] = [];
  const template = petTemplate(petResources(routes, changes));
  await using started = new AsyncDisposableStack();
  const stack = await startLocalStack(
    started,
    async () => ({ template, directory: import.meta.dirname }),
    { port: 0, log: (line) => void log.push(line), ...options },
  );
  const running = started.move();
  const stop = () => running.disposeAsync();
  return {
    ...stack,
    stop,
    [Symbol.asyncDispose]: stop,
    log,
    call: (path: string, request?: RequestOptions) => send(stack.baseUrl + path, request),
    pids: async (name: string) =>
      (await functionProcesses())
        .filter((one) => one.name === name)
        .map(({ pid }) => pid),
  };
}
