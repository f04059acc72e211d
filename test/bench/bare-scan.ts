/** Reads a table, and parses only the start of the next page. */
export async function bareScan(endpoint: string, table: string) {
  let lastId: string | undefined;
  do {
    const page = await scan(endpoint, {
      TableName: table,
      ProjectionExpression: "id, petId, quantity, shipDate, complete",
      ExclusiveStartKey: lastId === undefined ? undefined : { id: { N: lastId } },
    });
    lastId = /"LastEvaluatedKey":\{"id":\{"N":"(-?\d+)"\}\}/.exec(page)?.[1];
  } while (lastId !== undefined);
}

async function scan(endpoint: string, input: object) {
  const headers = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": "DynamoDB_20120810.Scan",
    // The engine wants a well-formed signature and does not verify it.
    Authorization:
      "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, " +
      "SignedHeaders=host, Signature=0",
    "X-Amz-Date": "20260101T000000Z",
  };
  const body = JSON.stringify(input);
  const response = await fetch(endpoint, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`A Scan got ${response.status}`);
  return await response.text();
}
