import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import type {
  APIGatewayAuthorizerResult,
  APIGatewayTokenAuthorizerEvent,
} from "aws-lambda";
import { epochSeconds, findActiveKeyId, readApiKey } from "../shared/api-keys-table.ts";
import { callLimits, createClient } from "../shared/dynamodb.ts";
import { environmentVariable, makeReady } from "../shared/function-start.ts";
import { logFailure } from "../shared/log.ts";

const client = DynamoDBDocumentClient.from(createClient(callLimits.authorizer));
const apiKeysTable = environmentVariable("API_KEYS_TABLE");
// The empty string is not a key, so no item has its hash.
await makeReady((signal) => readApiKey(client, apiKeysTable, "", signal));
const bearerKey = /^Bearer +(\w+)$/i;

/**
 * The gateway's TOKEN authorizer. Returns a policy for an active key. For any other it throws
 * exactly `Error("Unauthorized")`, which the gateway turns into 401. When the table can't be read
 * it throws another error, which the gateway turns into 500: a good key never gets a false 401.
 */
export const handler = middy<APIGatewayTokenAuthorizerEvent, APIGatewayAuthorizerResult>({
  timeoutEarlyInMillis: 250,
})
  .onError((request) => {
    const { error } = request;
    if (error?.message === "Unauthorized") return;
    logFailure("authorize_failed", error, {});
    // The runtime logs the error that is thrown, whatever its message quotes.
    request.error = new Error("The key can't be checked");
  })
  .handler(async ({ authorizationToken, methodArn }, _context, { signal }) => {
    const key = bearerKey.exec(authorizationToken)?.[1] ?? "";
    const keyId = await findActiveKeyId(
      client,
      apiKeysTable,
      key,
      epochSeconds(),
      signal,
    );
    // No stack trace: the runtime would log it for every rejected key, which costs money and tells
    // us nothing.
    if (keyId === undefined)
      throw Object.assign(new Error("Unauthorized"), { stack: "Error: Unauthorized" });
    // API Gateway caches the policy and applies it to every method of the stage.
    const Resource = `${methodArn.split("/", 2).join("/")}/*`;
    return {
      principalId: keyId,
      policyDocument: {
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource }],
      },
      context: { keyId },
    };
  });
