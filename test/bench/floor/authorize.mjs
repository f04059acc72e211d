import { createHash } from "node:crypto";
import { call } from "./dynamodb.mjs";

const read = (keyHash) =>
  call("GetItem", {
    TableName: process.env.API_KEYS_TABLE,
    Key: { keyHash: { S: keyHash } },
    ConsistentRead: true,
  });

// Made ready by looking up a hash that no key has.
await read("none");

export const handler = async ({ authorizationToken, methodArn }) => {
  const { body } = await read(
    createHash("sha256").update(authorizationToken.slice("Bearer ".length)).digest("hex"),
  );
  if (body.Item === undefined) throw new Error("Unauthorized");
  const keyId = body.Item.keyId.S;
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
