import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/**
 * A call to DynamoDB with nothing around it: one POST over one kept connection. The engine wants a
 * well-formed signature and does not verify it.
 *
 * @returns the text of the response.
 */
export async function callDynamoDb(
  endpoint: string,
  operation: "Scan" | "UpdateItem",
  input: unknown,
): Promise<string> {
  const body = JSON.stringify(input);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request(endpoint, {
    method: "POST",
    agent,
    headers: {
      "Content-Type": "application/x-amz-json-1.0",
      "Content-Length": Buffer.byteLength(body),
      "X-Amz-Target": `DynamoDB_20120810.${operation}`,
      Authorization:
        "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
      "X-Amz-Date": "20260101T000000Z",
    },
  });
  sent.on("error", reject);
  sent.on("response", (response) => {
    text(response).then((received) => {
      if (response.statusCode === 200) resolve(received);
      else reject(new Error(`${operation} got ${response.statusCode}: ${received}`));
    }, reject);
  });
  sent.end(body);
  return promise;
}

/** Closes the connection that `callDynamoDb` keeps. */
export function closeConnection(): void {
  agent.destroy();
}

/** The texts of all pages of a table, one Scan after the other, nothing parsed but where the next page begins. */
export async function* scanPages(endpoint: string, table: string): AsyncGenerator<string, void, void> {
  let after: unknown;
  do {
    const page = await callDynamoDb(endpoint, "Scan", {
      TableName: table,
      ProjectionExpression: "id, petId, quantity, shipDate, complete",
      ...(after !== undefined && { ExclusiveStartKey: after }),
    });
    after = lastEvaluatedKey(page);
    yield page;
  } while (after !== undefined);
}

function lastEvaluatedKey(page: string): unknown {
  const [, id] = /"LastEvaluatedKey":\{"id":\{"N":"(-?\d+)"\}\}/.exec(page) ?? [];
  return id === undefined ? undefined : { id: { N: id } };
}
