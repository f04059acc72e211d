import {
  type AttributeValue,
  type DynamoDBClient,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { environments } from "../../infra/environments.ts";
import { hashApiKey, makeApiKey } from "../../shared/api-keys.ts";

/** Puts items straight into these tables. */
export function tableWriter(
  client: DynamoDBClient,
  tables: { orders: string; apiKeys: string },
  apiKeyPrefix = environments.staging.apiKeyPrefix,
) {
  const documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });
  return {
    putOrder: async (item: Record<string, AttributeValue>) => {
      await client.send(new PutItemCommand({ TableName: tables.orders, Item: item }));
    },
    /** Puts an active key's record with these changes; undefined removes an attribute. */
    putKey: async (
      changes: Record<string, unknown> = {},
      key = makeApiKey(apiKeyPrefix),
    ) => {
      const record = {
        keyHash: hashApiKey(key),
        keyId: "key_test",
        name: "test",
        createdAt: 0,
        ...changes,
      };
      await documents.send(new PutCommand({ TableName: tables.apiKeys, Item: record }));
      return key;
    },
  };
}
