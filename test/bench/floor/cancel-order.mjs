import { updateItem } from "floor-dynamodb";

const TableName = process.env.ORDERS_TABLE;
// Made ready by a write whose condition never holds: the key is a number.
await updateItem({
  TableName,
  Key: { id: { N: "0" } },
  ConditionExpression: "attribute_type(id, :string)",
  ExpressionAttributeValues: { ":string": { S: "S" } },
});

export async function handler({ pathParameters, requestContext }, { awsRequestId }) {
  const unmet = await updateItem({
    TableName,
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
  if (unmet === undefined) return { statusCode: 204, headers: {}, body: "" };
  return { statusCode: unmet.Item === undefined ? 404 : 409, headers: {}, body: "" };
}
