import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import { findActiveKeyId } from "../shared/api-keys-table.ts";
import { createClient } from "../shared/dynamodb.ts";
import { environmentVariable } from "../shared/environment.ts";
import { logFailure } from "../shared/log.ts";

const client = DynamoDBDocumentClient.from(
  createClient({ connectionTimeout: 300, requestTimeout: 1000, maxAttempts: 3 }),
);
const apiKeysTable = environmentVariable("API_KEYS_TABLE");
const bearerKey = /^Bearer (\w+)$/i;

/**
 * The gateway's TOKEN authorizer. It answers a policy for an active key, and throws exactly `Error("Unauthorized")`,
 * which the gateway turns into 401, for any other; when the table can't be asked it fails, which the gateway turns
 * into 500, never into a false 401.
 */
export const handler = middy<APIGatewayTokenAuthorizerEvent, APIGatewayAuthorizerResult>({ timeoutEarlyInMillis: 250 })
  .onError(({ error }) => {
    if (error?.message !== "Unauthorized") logFailure("authorize_failed", error, {});
  })
  .handler(async ({ authorizationToken, methodArn }, _context, { signal }) => {
    const key = bearerKey.exec(authorizationToken)?.[1] ?? "";
    const keyId = await findActiveKeyId(client, apiKeysTable, key, Math.floor(Date.now() / 1000), signal);
    if (keyId === undefined) throw unauthorized();
    return allow(keyId, stageOf(methodArn));
  });

/** The runtime logs what is thrown with its stack, which for a refused key would tell nothing and be paid for. */
function unauthorized(): Error {
  return Object.assign(new Error("Unauthorized"), { stack: "Error: Unauthorized" });
}

// Not methodArn: API Gateway caches the policy and applies it to every method of the stage.
function stageOf(methodArn: string): string {
  return methodArn.split("/", 2).join("/");
}

function allow(keyId: string, stageArn: string): APIGatewayAuthorizerResult {
  return {
    principalId: keyId,
    policyDocument: {
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: `${stageArn}/*` }],
    },
    context: { keyId },
  };
}
