import { createHash } from "node:crypto";

const { API_KEYS_TABLE, ORDERS_TABLE } = process.env;

/**
 * Makes the authorizer. It admits a key to every method of the stage.
 *
 * @param getItem resolves with the response to a GetItem.
 */
export async function authorizer(getItem) {
  const read = (keyHash) =>
    getItem({
      TableName: API_KEYS_TABLE,
      Key: { keyHash: { S: keyHash } },
      ConsistentRead: true,
    });
  // Made ready by looking up a hash that no key has.
  await read("none");
  return async ({ authorizationToken, methodArn }) => {
    const key = authorizationToken.slice("Bearer ".length);
    const { Item } = await read(createHash("sha256").update(key).digest("hex"));
    if (Item === undefined) throw new Error("Unauthorized");
    const keyId = Item.keyId.S;
    const Resource = `${methodArn.split("/", 2).join("/")}/*`;
    return {
      principalId: keyId,
      policyDocument: {
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource }],
      },
      context: { keyId },
    };
  };
}

/**
 * Makes the function that cancels.
 *
 * @param updateItem resolves with undefined, or with what DynamoDB says when a condition doesn't hold.
 */
export async function canceller(updateItem) {
  // Made ready by a write whose condition never holds: the key is a number.
  await updateItem({
    TableName: ORDERS_TABLE,
    Key: { id: { N: "0" } },
    ConditionExpression: "attribute_type(id, :string)",
    ExpressionAttributeValues: { ":string": { S: "S" } },
  });
  return async ({ pathParameters, requestContext }, { awsRequestId }) => {
    const unmet = await updateItem({
      TableName: ORDERS_TABLE,
      Key: { id: { N: pathParameters.orderId } },
      UpdateExpression:
        "SET #status = :cancelled, cancelledAt = :at, cancelledBy = :by, cancellationId = :id",
      ConditionExpression: "#status = :pending",
      ExpressionAttributeNames: { "#status": "status" },
      ExpressionAttributeValues: {
        ":cancelled": { S: "cancelled" },
        ":pending": { S: "pending" },
        ":at": { S: new Date().toISOString() },
        ":by": { S: requestContext.authorizer.keyId },
        ":id": { S: awsRequestId },
      },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
    if (unmet === undefined) return { statusCode: 204, headers: {}, body: "" };
    return { statusCode: unmet.Item === undefined ? 404 : 409, headers: {}, body: "" };
  };
}

/**
 * Makes the function that lists. It writes orders by plain concatenation, trusting every value.
 *
 * @param scan resolves with the response to a Scan.
 */
export async function lister(scan) {
  const read = (input) =>
    scan({
      TableName: ORDERS_TABLE,
      ProjectionExpression: "id, petId, quantity, shipDate, complete",
      ...input,
    });
  // Made ready by reading one order.
  await read({ Limit: 1 });
  return awslambda.streamifyResponse(async (_event, stream) => {
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
}

function pageText(items, separator) {
  let text = "";
  for (const { id, petId, quantity, shipDate, complete } of items) {
    text += `${separator}{"id":${id.N},"petId":${petId.N},"quantity":${quantity.N},"shipDate":"${shipDate.S}","complete":${complete.BOOL}}`;
    separator = ",";
  }
  return text;
}
