import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";

/** Ships an order as another team's service does. @returns whether it was pending. */
export async function shipOrder(
  client: Pick<DynamoDBClient, "send">,
  table: string,
  id: bigint,
  shippedAt = new Date(),
) {
  const command = new UpdateItemCommand({
    TableName: table,
    Key: { id: { N: id.toString() } },
    UpdateExpression: "SET #status = :shipped, shipDate = :now, complete = :true",
    ConditionExpression: "#status = :pending",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":shipped": { S: "shipped" },
      ":pending": { S: "pending" },
      ":now": { S: shippedAt.toISOString() },
      ":true": { BOOL: true },
    },
  });
  try {
    await client.send(command);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
