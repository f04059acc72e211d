import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, ScanCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { hashApiKey } from "../../shared/api-keys.ts";
import { type ApiKeyRecord, isApiKeyRecord, issueApiKey } from "../../shared/api-keys-table.ts";
import { environments } from "../environments.ts";

/**
 * Issues a key, the given or a new one, and revokes the earlier ones with this name. A given key
 * that is active keeps its id, which orders may be cancelled by.
 *
 * @throws what the client throws.
 */
export async function issueStartKey(
  client: DynamoDBClient,
  TableName: string,
  name: string,
  key?: string,
): Promise<string> {
  const documents = DynamoDBDocumentClient.from(client);
  const now = Math.floor(Date.now() / 1000);
  const { Items = [] } = await documents.send(new ScanCommand({ TableName }));
  const active = Items.filter(
    (item): item is ApiKeyRecord =>
      isApiKeyRecord(item) && item.name === name && item.revokedAt === undefined,
  );
  const kept = active.find(({ keyHash }) => key !== undefined && keyHash === hashApiKey(key));
  for (const { keyHash } of active.filter((record) => record !== kept)) {
    const revocation = new UpdateCommand({
      TableName,
      Key: { keyHash },
      UpdateExpression: "SET revokedAt = :now",
      ConditionExpression: "attribute_exists(keyHash)",
      ExpressionAttributeValues: { ":now": now },
    });
    await documents.send(revocation);
  }
  if (kept && key !== undefined) return key;
  const { apiKeyPrefix } = environments.staging;
  const issued = await issueApiKey(
    documents,
    TableName,
    apiKeyPrefix,
    { name, createdAt: now },
    key,
  );
  return issued.key;
}
