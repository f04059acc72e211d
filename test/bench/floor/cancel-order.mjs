import { call } from "./dynamodb.mjs";
import { cancelPending } from "./requests.mjs";

// Made ready by a write whose condition never holds: the key is a number.
await call("UpdateItem", {
  TableName: process.env.ORDERS_TABLE,
  Key: { id: { N: "0" } },
  UpdateExpression: "SET cancelledBy = :by",
  ConditionExpression: "attribute_type(id, :string)",
  ExpressionAttributeValues: { ":by": { S: "nobody" }, ":string": { S: "S" } },
});

export const handler = async (event, context) => {
  const { status, body } = await call("UpdateItem", cancelPending(event, context));
  if (status === 200) return { statusCode: 204, headers: {}, body: "" };
  return { statusCode: body.Item === undefined ? 404 : 409, headers: {}, body: "" };
};
