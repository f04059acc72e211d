import { call } from "./dynamodb.mjs";

// Made ready by a write whose condition never holds: the key is a number.
await call("UpdateItem", {
  TableName: process.env.ORDERS_TABLE,
  Key: { id: { N: "0" } },
  UpdateExpression: "SET cancelledBy = :by",
  ConditionExpression: "attribute_type(id, :string)",
  ExpressionAttributeValues: { ":by": { S: "nobody" }, ":string": { S: "S" } },
});

export const handler = async ({ pathParameters, requestContext }, { awsRequestId }) => {
  const { status, body } = await call("UpdateItem", {
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
  return {
    statusCode: status === 200 ? 204 : body.Item === undefined ? 404 : 409,
    headers: {},
    body: "",
  };
};
