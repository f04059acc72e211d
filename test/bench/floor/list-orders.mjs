import { call } from "./dynamodb.mjs";

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
    let chunk = "";
    for (const { id, petId, quantity, shipDate, complete } of page.Items) {
      chunk += `${separator}{"id":${id.N},"petId":${petId.N},"quantity":${quantity.N},"shipDate":"${shipDate.S}","complete":${complete.BOOL}}`;
      separator = ",";
    }
    list.write(chunk);
    if (page.LastEvaluatedKey === undefined) break;
    ({ body: page } = await scan({ ExclusiveStartKey: page.LastEvaluatedKey }));
  }
  list.end(separator === "[" ? "[]" : "]");
});
