import { type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { ApiKeyRecord } from "../../../shared/api-keys-table.ts";

/** Admits an API key by its hash. */
export async function putApiKey(
  client: DynamoDBClient,
  table: string,
  { keyHash, keyId, name, createdAt }: ApiKeyRecord,
): Promise<void> {
  const Item = { keyHash: { S: keyHash }, keyId: { S: keyId }, name: { S: name }, createdAt: { N: String(createdAt) } };
  await client.send(new PutItemCommand({ TableName: table, Item }));
}
