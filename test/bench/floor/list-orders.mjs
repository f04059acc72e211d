import { finished } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { scan } from "floor-dynamodb";

const read = (input) =>
  scan({
    TableName: process.env.ORDERS_TABLE,
    ProjectionExpression: "id, petId, quantity, shipDate, complete",
    ...input,
  });
// Made ready by reading one order.
await read({ Limit: 1 });

export const handler = awslambda.streamifyResponse(async ({ headers }, stream) => {
  const response = awslambda.HttpResponseStream.from(stream, {
    statusCode: 200,
    headers: { "Content-Type": "application/json" },
  });
  const isGzip = headers["Accept-Encoding"] === "gzip";
  const list = isGzip ? createGzip({ level: 3 }) : response;
  if (isGzip) list.pipe(response);
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
  await finished(response);
});

function pageText(items, separator) {
  let text = "";
  for (const { id, petId, quantity, shipDate, complete } of items) {
    text += `${separator}{"id":${id.N}`;
    if (petId?.N) text += `,"petId":${petId.N}`;
    if (quantity?.N) text += `,"quantity":${quantity.N}`;
    if (shipDate?.S) text += `,"shipDate":"${shipDate.S}"`;
    text += `,"complete":${complete.BOOL}}`;
    separator = ",";
  }
  return text;
}
