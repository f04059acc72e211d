import { DynamoDBClient } from "@aws-sdk/client-dynamodb";

/**
 * The SDK and nothing else, without the middleware that walks through every response for a log
 * line.
 */
export const client = new DynamoDBClient();
client.middlewareStack.remove("loggerMiddleware");
