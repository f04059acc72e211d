import { hash } from "node:crypto";
import { getItem } from "floor-dynamodb";

const read = (keyHash) =>
  getItem({
    TableName: process.env.API_KEYS_TABLE,
    Key: { keyHash: { S: keyHash } },
    ConsistentRead: true,
  });
// Made ready by looking up a hash that no key has.
await read("none");

/** Admits a key to every method of the stage. */
export async function handler({ authorizationToken, methodArn }) {
  const key = authorizationToken.slice("Bearer ".length);
  const { Item } = await read(hash("sha256", key));
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
}
