import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { hashApiKey, makeApiKey } from "../../shared/api-keys.ts";
import { type ApiKeyRecord, isApiKeyRecord, issueApiKey } from "../../shared/api-keys-table.ts";
import { environments } from "../environments.ts";

/**
 * Issues a key, the given or a new one, and revokes the earlier ones with this name. A given key
 * that is active keeps its id, which cancelled orders may name.
 *
 * @throws what the DynamoDB client throws.
 */
export async function issueStartKey(
  client: DynamoDBClient,
  TableName: string,
  name: string,
  key = makeApiKey(environments.staging.apiKeyPrefix),
): Promise<string> {
  const documents = DynamoDBDocumentClient.from(client);
  const now = Math.floor(Date.now() / 1000);
  const { Items = [] } = await documents.send(new ScanCommand({ TableName }));
  const active = Items.filter(
    (item): item is ApiKeyRecord =>
      isApiKeyRecord(item) && item.name === name && item.revokedAt === undefined,
  );
  const kept = active.find(({ keyHash }) => keyHash === hashApiKey(key));
  const earlier = active.filter((record) => record !== kept);
  for (const record of earlier) {
    await documents.send(new PutCommand({ TableName, Item: { ...record, revokedAt: now } }));
  }
  if (!kept) await issueApiKey(documents, TableName, key, { name, createdAt: now });
  return key;
}
