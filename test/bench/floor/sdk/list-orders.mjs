import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { listHandler } from "../list-handler.mjs";
import { client } from "./dynamodb.mjs";

// Made ready by reading one order.
await client.send(new ScanCommand({ TableName: process.env.ORDERS_TABLE, Limit: 1 }));

export const handler = listHandler((ExclusiveStartKey) =>
  client.send(
    new ScanCommand({
      TableName: process.env.ORDERS_TABLE,
      ProjectionExpression: "id, petId, quantity, shipDate, complete",
      ExclusiveStartKey,
    }),
  ),
);
