import { type DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";

/** The status of an order as the table has it. */
export async function statusOf(client: DynamoDBClient, TableName: string, id: string): Promise<string | undefined> {
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: { id: { N: id } }, ConsistentRead: true }));
  return Item?.["status"]?.S;
}
