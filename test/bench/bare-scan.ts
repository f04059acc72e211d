import { unsignedCall } from "../helpers/unsigned-call.ts";

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
  const target = "DynamoDB_20120810.Scan";
  const response = await unsignedCall(endpoint, target, JSON.stringify(input));
  if (!response.ok) throw new Error(`A Scan got ${response.status}`);
  return await response.text();
}
