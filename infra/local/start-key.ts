import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { issueApiKey } from "../../shared/api-keys-table.ts";
import { environments } from "../environments.ts";

/**
 * Issues a key, the given or a new one, in place of earlier ones with this name. Throws what the
 * client throws.
 */
export async function issueStartKey(
  client: DynamoDBClient,
  TableName: string,
  name: string,
  key?: string,
) {
  const documents = DynamoDBDocumentClient.from(client);
  const { Items = [] } = await documents.send(new ScanCommand({ TableName }));
  for (const { keyHash } of Items.filter((item) => item["name"] === name)) {
    await documents.send(new DeleteCommand({ TableName, Key: { keyHash } }));
  }
  const createdAt = Math.floor(Date.now() / 1000);
  const issued = await issueApiKey(
    documents,
    TableName,
    environments.staging.apiKeyPrefix,
    { name, createdAt },
    key,
  );
  return issued.key;
}
