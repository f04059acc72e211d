import { call } from "./dynamodb.mjs";
import { pageText } from "./page-text.mjs";

const scan = (input) =>
  call("Scan", {
    TableName: process.env.ORDERS_TABLE,
    ProjectionExpression: "id, petId, quantity, shipDate, complete",
    ...input,
  });

// Made ready by reading one order.
await scan({ Limit: 1 });

export const handler = awslambda.streamifyResponse(async (_event, stream) => {
  const list = awslambda.HttpResponseStream.from(stream, {
    statusCode: 200,
    headers: { "Content-Type": "application/json" },
  });
  let separator = "[";
  let key;
  do {
    const { body } = await scan({ ExclusiveStartKey: key });
    if (body.Items.length > 0) {
      list.write(pageText(body.Items, separator));
      separator = ",";
    }
    key = body.LastEvaluatedKey;
  } while (key);
  // The runtime sends the metadata with the first write; end() alone would send none.
  list.write(separator === "[" ? "[]" : "]");
  list.end();
});
