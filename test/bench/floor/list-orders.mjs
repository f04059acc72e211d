import { call } from "./dynamodb.mjs";
import { pageText } from "./page-text.mjs";

const scan = (more) =>
  call("Scan", {
    TableName: process.env.ORDERS_TABLE,
    ProjectionExpression: "id, petId, quantity, shipDate, complete",
    ...more,
  });

// Made ready by reading one order.
await scan({ Limit: 1 });

export const handler = awslambda.streamifyResponse(async (_event, stream) => {
  let { body: page } = await scan();
  const list = awslambda.HttpResponseStream.from(stream, {
    statusCode: 200,
    headers: { "Content-Type": "application/json" },
  });
  let separator = "[";
  for (;;) {
    if (page.Items.length > 0) {
      list.write(pageText(page.Items, separator));
      separator = ",";
    }
    if (page.LastEvaluatedKey === undefined) break;
    ({ body: page } = await scan({ ExclusiveStartKey: page.LastEvaluatedKey }));
  }
  // The runtime sends the metadata before the first write, and end alone is none.
  list.write(separator === "[" ? "[]" : "]");
  list.end();
});
