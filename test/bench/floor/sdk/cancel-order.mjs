import { ConditionalCheckFailedException, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { cancelPending } from "../requests.mjs";
import { client } from "./dynamodb.mjs";

// Made ready by a write whose condition never holds: the key is a number.
const neverHolds = new UpdateItemCommand({
  TableName: process.env.ORDERS_TABLE,
  Key: { id: { N: "0" } },
  ConditionExpression: "attribute_type(id, :string)",
  ExpressionAttributeValues: { ":string": { S: "S" } },
});
await client.send(neverHolds).catch(() => {});

export const handler = async (event, context) => {
  try {
    await client.send(new UpdateItemCommand(cancelPending(event, context)));
    return { statusCode: 204, headers: {}, body: "" };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { statusCode: error.Item === undefined ? 404 : 409, headers: {}, body: "" };
  }
};
