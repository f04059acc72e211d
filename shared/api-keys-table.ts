import { type DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { hashApiKey, isApiKey } from "./api-keys.ts";

/** A row of the table of API keys. Times are epoch seconds; only the hash of the key itself is kept. */
export interface ApiKeyRecord {
  keyHash: string;
  keyId: string;
  name: string;
  createdAt: number;
  expiresAt?: number;
  revokedAt?: number;
}

/** What a key is good for at a moment. A revoked key stays revoked, also past its expiry. */
export type ApiKeyState = "active" | "expired" | "revoked";

/** The state of a key at `now`, in epoch seconds. A key has expired from the second `expiresAt` on. */
export function apiKeyState(
  { expiresAt, revokedAt }: Pick<ApiKeyRecord, "expiresAt" | "revokedAt">,
  now: number,
): ApiKeyState {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "active";
}

/**
 * The id of `key` when it may be used at `now` (epoch seconds), else undefined. A text that has not the form of a key
 * costs no read, any other one consistent read.
 *
 * @throws what the DynamoDB client throws when the table can't be asked.
 */
export async function findActiveKeyId(
  client: DynamoDBDocumentClient,
  table: string,
  key: string,
  now: number,
  abortSignal?: AbortSignal,
): Promise<string | undefined> {
  if (!isApiKey(key)) return undefined;
  const { Item, ConsumedCapacity } = await client.send(
    new GetCommand({
      TableName: table,
      Key: { keyHash: hashApiKey(key) },
      ConsistentRead: true,
      ReturnConsumedCapacity: "TOTAL",
    }),
    abortSignal && { abortSignal },
  );
  // An answer that was lost on its way can reach the SDK as an empty 200, which must not pass for an unknown key.
  if (ConsumedCapacity === undefined) throw new Error("The answer to a GetItem is empty");
  if (!isApiKeyRecord(Item) || apiKeyState(Item, now) !== "active") return undefined;
  return Item.keyId;
}

/** Whether an item of the table is a whole record; one that is not admits nobody. */
export function isApiKeyRecord(
  item: Record<string, unknown> | undefined,
): item is Record<string, unknown> & ApiKeyRecord {
  return (
    typeof item?.["keyHash"] === "string" &&
    typeof item["keyId"] === "string" &&
    typeof item["name"] === "string" &&
    isEpochSeconds(item["createdAt"]) &&
    (item["expiresAt"] === undefined || isEpochSeconds(item["expiresAt"])) &&
    (item["revokedAt"] === undefined || isEpochSeconds(item["revokedAt"]))
  );
}

function isEpochSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
