import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { pageText } from "../page-text.mjs";
import { client } from "./dynamodb.mjs";

// Made ready by reading one order.
await client.send(new ScanCommand({ TableName: process.env.ORDERS_TABLE, Limit: 1 }));

const scan = (ExclusiveStartKey) =>
  client.send(
    new ScanCommand({
      TableName: process.env.ORDERS_TABLE,
      ProjectionExpression: "id, petId, quantity, shipDate, complete",
      ExclusiveStartKey,
    }),
  );

export const handler = awslambda.streamifyResponse(async (_event, stream) => {
  const list = awslambda.HttpResponseStream.from(stream, {
    statusCode: 200,
    headers: { "Content-Type": "application/json" },
  });
  let separator = "[";
  let key;
  do {
    const { Items, LastEvaluatedKey } = await scan(key);
    if (Items.length > 0) {
      list.write(pageText(Items, separator));
      separator = ",";
    }
    key = LastEvaluatedKey;
  } while (key);
  // The runtime sends the metadata with the first write; end() alone would send none.
  list.write(separator === "[" ? "[]" : "]");
  list.end();
});
