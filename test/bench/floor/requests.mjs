/** The input of the read that looks up an API key by its hash. */
export const readKey = (keyHash) => ({
  TableName: process.env.API_KEYS_TABLE,
  Key: { keyHash: { S: keyHash } },
  ConsistentRead: true,
});

/** The authorizer's response that admits a key to every method of the stage. */
export const admit = (keyId, methodArn) => {
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

/** The input of the write that cancels the order of a request. */
export const cancelPending = ({ pathParameters, requestContext }, { awsRequestId }) => ({
  TableName: process.env.ORDERS_TABLE,
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
