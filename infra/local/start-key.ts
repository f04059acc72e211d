import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import { environments } from "../environments.ts";

/** Issues a start's key, a given or a new one, in place of earlier ones with this name unless it is the table's first. */
export async function issueStartKey(
  client: DynamoDBClient,
  TableName: string,
  { name, key, isFirst }: { name: string; key: string | undefined; isFirst: boolean },
): Promise<string> {
  const documents = DynamoDBDocumentClient.from(client);
  if (!isFirst) await removeKeys(documents, TableName, name);
  const createdAt = Math.floor(Date.now() / 1000);
  const issued = await issueApiKey(documents, TableName, environments.staging.apiKeyPrefix, { name, createdAt }, key);
  return issued.key;
}

async function removeKeys(documents: DynamoDBDocumentClient, TableName: string, name: string): Promise<void> {
  const { Items = [] } = await documents.send(
    new ScanCommand({
      TableName,
      FilterExpression: "#name = :name",
      ExpressionAttributeNames: { "#name": "name" },
      ExpressionAttributeValues: { ":name": name },
    }),
  );
  for (const { keyHash } of Items) await documents.send(new DeleteCommand({ TableName, Key: { keyHash } }));
}
