import { ConditionalCheckFailedException, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { client } from "./dynamodb.mjs";

// Made ready by a write whose condition never holds: the key is a number.
const neverHolds = new UpdateItemCommand({
  TableName: process.env.ORDERS_TABLE,
  Key: { id: { N: "0" } },
  ConditionExpression: "attribute_type(id, :string)",
  ExpressionAttributeValues: { ":string": { S: "S" } },
});
await client.send(neverHolds).catch(() => {});

export const handler = async ({ pathParameters, requestContext }, { awsRequestId }) => {
  const cancel = new UpdateItemCommand({
    TableName: process.env.ORDERS_TABLE,
    Key: { id: { N: pathParameters.orderId } },
    UpdateExpression:
      "SET #status = :cancelled, cancelledAt = :at, cancelledBy = :by, cancellationId = :id",
    ConditionExpression: "#status = :pending",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":cancelled": { S: "cancelled" },
      ":pending": { S: "pending" },
      ":at": { S: new Date().toISOString() },
      ":by": { S: requestContext.authorizer.keyId },
      ":id": { S: awsRequestId },
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  try {
    await client.send(cancel);
    return { statusCode: 204, headers: {}, body: "" };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { statusCode: error.Item === undefined ? 404 : 409, headers: {}, body: "" };
  }
};
