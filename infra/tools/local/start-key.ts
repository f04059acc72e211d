import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { hashApiKey, makeApiKey } from "../../../shared/api-keys.ts";
import {
  epochSeconds,
  isApiKeyRecord,
  issueApiKey,
} from "../../../shared/api-keys-table.ts";
import { environments } from "../../environments.ts";

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
  const now = epochSeconds();
  const { Items = [] } = await documents.send(new ScanCommand({ TableName }));
  let isKept = false;
  for (const record of Items) {
    if (!isApiKeyRecord(record) || record.name !== name || record.revokedAt !== undefined)
      continue;
    if (record.keyHash === hashApiKey(key)) isKept = true;
    else
      await documents.send(
        new PutCommand({ TableName, Item: { ...record, revokedAt: now } }),
      );
  }
  if (!isKept) await issueApiKey(documents, TableName, key, { name, createdAt: now });
  return key;
}
