import { ConditionalCheckFailedException, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { client } from "./dynamodb.mjs";

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
