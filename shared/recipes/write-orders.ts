import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import {
  type DynamoDBDocumentClient,
  PutCommand,
  UpdateCommand,
  type UpdateCommandOutput,
} from "@aws-sdk/lib-dynamodb";

/**
 * Places an order with these attributes, as plain values: `{ petId: 104, quantity: 2 }`. Its
 * `placementId` tells it from an order that someone else placed.
 *
 * @throws RangeError for an id beyond 64 bits, which clients could neither see nor cancel.
 */
export async function placeOrder(
  client: DynamoDBDocumentClient,
  TableName: string,
  id: bigint,
  placementId: string,
  attributes: object,
) {
  if (BigInt.asIntN(64, id) !== id) throw new RangeError("The id exceeds 64 bits");
  const command = new PutCommand({
    TableName,
    Item: { ...attributes, id, status: "pending", placementId },
    ConditionExpression: "attribute_not_exists(id)",
    ...informative,
  });
  const found = await orderInTheWay(client.send(command));
  if (!found) return "placed";
  return found["placementId"]?.S === placementId ? "already placed by you" : "taken";
}

/**
 * Ships an order: the parcel may leave only if this returns "shipped". The shipment's id and date
 * tell it from a shipment by someone else, and from one of yours that was undone.
 */
export async function shipOrder(
  client: DynamoDBDocumentClient,
  TableName: string,
  id: bigint,
  shipmentId: string,
  shipDate: string,
) {
  const command = new UpdateCommand({
    TableName,
    Key: { id },
    UpdateExpression:
      "SET #status = :shipped, complete = :true, shipDate = :date, shipmentId = :shipment",
    ConditionExpression: "#status = :pending",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":pending": "pending",
      ":shipped": "shipped",
      ":true": true,
      ":date": shipDate,
      ":shipment": shipmentId,
    },
    ...informative,
  });
  const found = await orderInTheWay(client.send(command));
  if (!found) return "shipped";
  if (!found["id"]) return "no such order";
  if (found["status"]?.S === "cancelled") return "cancelled";
  if (found["status"]?.S !== "shipped") return "not pending";
  const isYours =
    found["shipmentId"]?.S === shipmentId && found["shipDate"]?.S === shipDate;
  return isYours ? "shipped" : "shipped by someone else";
}

/**
 * Corrects an attribute of a pending order, as it was read. The correction's id tells it from a
 * correction by someone else, even from one that brought the old value back.
 *
 * @throws RangeError for the status, an id or a date that only another write may set.
 */
export async function correctOrder(
  client: DynamoDBDocumentClient,
  TableName: string,
  order: Record<string, unknown>,
  correctionId: string,
  name: string,
  value: unknown,
) {
  if (ownedByWrites.test(name)) throw new RangeError(`${name} can't be corrected`);
  const was = order[name];
  const command = new UpdateCommand({
    TableName,
    Key: { id: order["id"] },
    UpdateExpression: "SET #name = :value, correctionId = :correction",
    ConditionExpression:
      `#status = :pending AND ${was === undefined ? "attribute_not_exists(#name)" : "#name = :was"} ` +
      "AND (attribute_not_exists(correctionId) OR correctionId = :last)",
    ExpressionAttributeNames: { "#status": "status", "#name": name },
    ExpressionAttributeValues: {
      ":pending": "pending",
      ...(was !== undefined && { ":was": was }),
      ":last": order["correctionId"] ?? null,
      ":value": value,
      ":correction": correctionId,
    },
    ...informative,
  });
  const found = await orderInTheWay(client.send(command));
  if (!found || found["correctionId"]?.S === correctionId) return "corrected";
  if (!found["id"]) return "no such order";
  return found["status"]?.S === "pending" ? "changed since" : "not pending";
}

/** Makes an order pending again that was shipped by mistake: by that shipment, on that date. */
export async function reinstateOrder(
  client: DynamoDBDocumentClient,
  TableName: string,
  id: bigint,
  wrongShipmentId: string,
  wrongDate: string,
  shipDate: string,
  reinstatedAt: string,
) {
  const command = new UpdateCommand({
    TableName,
    Key: { id },
    UpdateExpression:
      "SET #status = :pending, complete = :false, shipDate = :date, reinstatedAt = :now REMOVE shipmentId",
    ConditionExpression:
      "#status = :shipped AND shipDate = :wrong AND reinstatedAt <> :now " +
      "AND (attribute_not_exists(shipmentId) OR shipmentId = :shipment)",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: {
      ":shipped": "shipped",
      ":wrong": wrongDate,
      ":shipment": wrongShipmentId,
      ":pending": "pending",
      ":false": false,
      ":date": shipDate,
      ":now": reinstatedAt,
    },
    ...informative,
  });
  const found = await orderInTheWay(client.send(command));
  if (found && !found["id"]) return "no such order";
  const isYours = !found || found["reinstatedAt"]?.S === reinstatedAt;
  return isYours ? "reinstated" : "changed since";
}

const ownedByWrites =
  /^(id|status|complete|(placement|shipment|correction|cancellation)Id|cancelled(At|By)|reinstatedAt)$/;

const informative = {
  ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  ReturnConsumedCapacity: "TOTAL",
} as const;

/** Returns undefined once a write is applied, or the order that didn't meet its condition. */
async function orderInTheWay(sent: Promise<UpdateCommandOutput>) {
  try {
    const { ConsumedCapacity } = await sent;
    // A lost response can reach the SDK as an empty 200.
    if (!ConsumedCapacity) throw new Error("The response is empty");
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return error.Item ?? {};
  }
}
