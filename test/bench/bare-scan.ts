import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

/**
 * Reads a table with as little work as possible: one Scan after the other over one kept connection,
 * with only the start of the next page parsed.
 */
export async function bareScan(endpoint: string, table: string): Promise<void> {
  let lastId: string | undefined;
  do {
    const page = await scan(endpoint, {
      TableName: table,
      ProjectionExpression: "id, petId, quantity, shipDate, complete",
      ExclusiveStartKey: lastId === undefined ? undefined : { id: { N: lastId } },
    });
    lastId = lastIdOf(page);
  } while (lastId !== undefined);
}

/** The id after which the next page begins; undefined on the last page. */
function lastIdOf(page: string): string | undefined {
  return /"LastEvaluatedKey":\{"id":\{"N":"(-?\d+)"\}\}/.exec(page)?.[1];
}

async function scan(endpoint: string, input: object): Promise<string> {
  const body = JSON.stringify(input);
  const headers = {
    "Content-Type": "application/x-amz-json-1.0",
    "Content-Length": Buffer.byteLength(body),
    "X-Amz-Target": "DynamoDB_20120810.Scan",
    // The engine wants a well-formed signature and does not verify it.
    Authorization:
      "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, " +
      "SignedHeaders=host, Signature=0",
    "X-Amz-Date": "20260101T000000Z",
  };
  const sent = request(endpoint, { method: "POST", headers }).end(body);
  const [response]: IncomingMessage[] = await once(sent, "response");
  if (response === undefined) throw new Error("No response to a Scan");
  const page = await text(response);
  if (response.statusCode !== 200)
    throw new Error(`A Scan got ${response.statusCode}: ${page}`);
  return page;
}
