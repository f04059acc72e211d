import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  ScanCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";

/** The SDK and nothing else, even without its own logging, which walks through every response. */
export const client = new DynamoDBClient();
client.middlewareStack.remove("loggerMiddleware");

export const scan = (input) => client.send(new ScanCommand(input));

/** Resolves with undefined, or with what DynamoDB says when a condition doesn't hold. */
export async function updateItem(input) {
  try {
    await client.send(new UpdateItemCommand(input));
    return undefined;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return error;
    throw error;
  }
}
