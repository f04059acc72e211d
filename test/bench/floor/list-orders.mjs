import { scan } from "floor-dynamodb";

const read = (input) =>
  scan({
    TableName: process.env.ORDERS_TABLE,
    ProjectionExpression: "id, petId, quantity, shipDate, complete",
    ...input,
  });
// Made ready by reading one order.
await read({ Limit: 1 });

export const handler = awslambda.streamifyResponse(async (_event, stream) => {
  const list = awslambda.HttpResponseStream.from(stream, {
    statusCode: 200,
    headers: { "Content-Type": "application/json" },
  });
  let separator = "[";
  let ExclusiveStartKey;
  do {
    const { Items, LastEvaluatedKey } = await read({ ExclusiveStartKey });
    if (Items.length > 0) {
      list.write(pageText(Items, separator));
      separator = ",";
    }
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
  // The runtime sends the metadata with the first write; end() alone would send none.
  list.write(separator === "[" ? "[]" : "]");
  list.end();
});

function pageText(items, separator) {
  let text = "";
  for (const { id, petId, quantity, shipDate, complete } of items) {
    text += `${separator}{"id":${id.N},"petId":${petId.N},"quantity":${quantity.N},"shipDate":"${shipDate.S}","complete":${complete.BOOL}}`;
    separator = ",";
  }
  return text;
}
