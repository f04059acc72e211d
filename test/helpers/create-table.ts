import { CreateTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";

const keys = {
  orders: { name: "id", type: "N" },
  apiKeys: { name: "keyHash", type: "S" },
} as const;

/** Creates an empty table like the service's table of orders or of API keys. */
export async function createTable(
  client: DynamoDBClient,
  kind: keyof typeof keys,
  tableName: string,
) {
  const { name, type } = keys[kind];
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [{ AttributeName: name, KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: name, AttributeType: type }],
    }),
  );
}
