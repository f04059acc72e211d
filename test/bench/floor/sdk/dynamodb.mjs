import { DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** The SDK and nothing else, even without its own logging, which walks through every response. */
export const client = new DynamoDBClient();
client.middlewareStack.remove("loggerMiddleware");
