import { type AttributeValue, type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import { environments } from "../../infra/environments.ts";
import { hashApiKey, makeApiKey } from "../../shared/api-keys.ts";

/** Puts items straight into the tables. */
interface TableWriter {
  /** Puts an item into the orders table, whatever it holds. */
  putOrder(item: Record<string, AttributeValue>): Promise<void>;
  /**
   * Puts the record of an API key, a new one unless given, and returns the key.
   *
   * @param changes to a record that is active; undefined removes an attribute.
   */
  putKey(changes?: Record<string, unknown>, key?: string): Promise<string>;
}

/** @param apiKeyPrefix of new keys; that of a local stack unless given. */
export function tableWriter(
  client: DynamoDBClient,
  tables: { orders: string; apiKeys: string },
  apiKeyPrefix = environments.staging.apiKeyPrefix,
): TableWriter {
  const documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });
  return {
    putOrder: async (Item) => {
      await client.send(new PutItemCommand({ TableName: tables.orders, Item }));
    },
    putKey: async (changes = {}, key = makeApiKey(apiKeyPrefix)) => {
      const Item = {
        keyHash: hashApiKey(key),
        keyId: "key_test",
        name: "test",
        createdAt: 0,
        ...changes,
      };
      await documents.send(new PutCommand({ TableName: tables.apiKeys, Item }));
      return key;
    },
  };
}
