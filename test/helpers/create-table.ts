import { CreateTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";

const keys = { orders: ["id", "N"], apiKeys: ["keyHash", "S"] } as const;

/** Creates an empty table like the service's table of orders or of API keys. */
export async function createTable(
  client: DynamoDBClient,
  kind: keyof typeof keys,
  TableName: string,
): Promise<void> {
  const [AttributeName, AttributeType] = keys[kind];
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [{ AttributeName, KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName, AttributeType }],
    }),
  );
}
