import { createHash } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { client } from "./dynamodb.mjs";

const read = (keyHash) =>
  client.send(
    new GetItemCommand({
      TableName: process.env.API_KEYS_TABLE,
      Key: { keyHash: { S: keyHash } },
      ConsistentRead: true,
    }),
  );

// Made ready by looking up a hash that no key has.
await read("none");

export const handler = async ({ authorizationToken, methodArn }) => {
  const { Item } = await read(
    createHash("sha256").update(authorizationToken.slice("Bearer ".length)).digest("hex"),
  );
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
