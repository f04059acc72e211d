import { fileURLToPath } from "node:url";
import { type AttributeValue, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, inject } from "vitest";
import { engineClient } from "../../infra/local/engine/client.ts";
import { type LocalStack, type LocalStackOptions, startLocalStack } from "../../infra/local/local-stack.ts";
import { makeApiKey } from "../../shared/api-keys.ts";
import { type Answer, type RequestOptions, send } from "./answer.ts";
import { useExternalEngine } from "./external-engine.ts";
import { expectDocumented } from "./openapi/responses.ts";

/** A local stack of a test file's own, at a free port, with the orders of `orders.ndjson`. */
export interface TestStack extends LocalStack {
  /** How many orders it was given. */
  seeded: number;
  /** The lines that the functions have logged. */
  log: string[];
  /** A key of the right form that nobody issued. */
  unknownKey: string;
  /**
   * Sends a request to a path under the base URL, with the stack's key unless another or none is given, and holds the
   * answer to the OpenAPI document.
   */
  call(path: string, options?: RequestOptions, key?: string | null): Promise<Answer>;
  /** Puts an item into the table of orders, whatever it holds. */
  putOrder(item: Record<string, AttributeValue>): Promise<void>;
  /** Ends it, and fails when a function has logged what no line may tell. */
  stop(): Promise<void>;
}

const secrets = /pets_(?:test|live)_|bearer|authorization|"(?:multiValueH|h)eaders"|"body"/i;

export async function startTestStack(options: LocalStackOptions = {}): Promise<TestStack> {
  const log: string[] = [];
  const ordersFile = fileURLToPath(new URL("orders.ndjson", import.meta.url));
  const engine = await useExternalEngine();
  const stack = await startLocalStack({
    port: 0,
    dynamodbEndpoint: engine?.endpoint,
    assembly: inject("assembly"),
    ordersFile,
    log: (line) => void log.push(line),
    ...options,
  });
  const client = engineClient(stack.dynamodbEndpoint);
  return {
    ...stack,
    seeded: 10,
    log,
    unknownKey: makeApiKey("pets_test"),
    call: async (path, request = {}, key = stack.apiKey) => {
      const headers = key === null ? {} : { authorization: `Bearer ${key}` };
      const answer = await send(stack.baseUrl + path, { ...request, headers: { ...headers, ...request.headers } });
      expectDocumented(request.method ?? "GET", path, answer);
      return answer;
    },
    putOrder: async (Item) => {
      await client.send(new PutItemCommand({ TableName: stack.tables.orders, Item }));
    },
    stop: async () => {
      client.destroy();
      await stack.stop();
      await engine?.stop();
      // Of whatever a test file did, no line may tell a key, a header or a body.
      expect(log.filter((line) => secrets.test(line))).toEqual([]);
    },
  };
}
