import { fileURLToPath } from "node:url";
import { DeleteTableCommand, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { expect } from "vitest";
import { environments } from "../../infra/environments.ts";
import {
  type LocalStackOptions,
  startLocalStack,
} from "../../infra/tools/local/local-stack.ts";
import { engineClient } from "../../infra/tools/running-stacks/engine-client.ts";
import { responseProblems } from "../../infra/tools/smoke/document.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { readAssembly } from "./read-assembly.ts";
import { type RequestOptions, send } from "./send.ts";
import { tableWriter } from "./table-writer.ts";

const secrets = /pets_[0-9a-z]+_|bearer|authorization|"(?:multiValueH|h)eaders"|"body"/i;

/** Starts a local stack with the orders of `orders.ndjson`. */
export async function startTestStack(
  running: AsyncDisposableStack,
  options: LocalStackOptions = {},
) {
  const log: string[] = [];
  const orders = fileURLToPath(new URL("orders.ndjson", import.meta.url));
  running.defer(() => {
    // Whatever a test file did, no line may contain a key, a header or a body.
    expect(log.filter((line) => secrets.test(line))).toEqual([]);
  });
  const stack = await startLocalStack(running, readAssembly, {
    port: 0,
    dynamodbEndpoint: await externalEngine(running),
    orders,
    log: (line) => void log.push(line),
    // Each further environment costs a cold start.
    maxEnvironments: 2,
    ...options,
  });
  return {
    ...stack,
    ...tableWriter(stack.client, stack.tables),
    seeded: 10,
    log,
    /** A well-formed key that was never issued. */
    unknownKey: makeApiKey(environments.staging.apiKeyPrefix),
    /** Sends a request to a path under the base URL. The description must fit the response. */
    call: async (
      path: string,
      request: RequestOptions = {},
      key: string | null = stack.apiKey,
    ) => {
      const headers = key === null ? {} : { authorization: `Bearer ${key}` };
      const response = await send(stack.baseUrl + path, {
        ...request,
        headers: { ...headers, ...request.headers },
      });
      const { method = "GET" } = request;
      const problems = responseProblems({ method, path, ...response });
      expect(problems, "what shared/openapi.yaml does not describe").toEqual([]);
      return response;
    },
  };
}

/**
 * The DynamoDB engine at DYNAMODB_ENDPOINT, if set, for one test file at a time.
 *
 * @throws Error when it has tables: they may be those of an `npm start`.
 */
async function externalEngine(running: AsyncDisposableStack) {
  const endpoint = process.env["DYNAMODB_ENDPOINT"];
  if (!endpoint) return undefined;
  const client = engineClient(endpoint);
  // A test file creates far fewer tables than the 100 that one call returns.
  const tableNames = async () =>
    (await client.send(new ListTablesCommand())).TableNames ?? [];
  const present = await tableNames();
  if (present.length > 0)
    throw new Error(
      `The tests need an empty engine; DYNAMODB_ENDPOINT has ${present.join(", ")}`,
    );
  running.defer(async () => {
    for (const TableName of await tableNames())
      await client.send(new DeleteTableCommand({ TableName }));
    client.destroy();
  });
  return endpoint;
}
