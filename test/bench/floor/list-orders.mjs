import { call } from "./dynamodb.mjs";
import { listHandler } from "./list-handler.mjs";

const scan = async (input) => {
  const { body } = await call("Scan", {
    TableName: process.env.ORDERS_TABLE,
    ProjectionExpression: "id, petId, quantity, shipDate, complete",
    ...input,
  });
  return body;
};

// Made ready by reading one order.
await scan({ Limit: 1 });

export const handler = listHandler((ExclusiveStartKey) => scan({ ExclusiveStartKey }));
