import { createHash } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { admit, readKey } from "../requests.mjs";
import { client } from "./dynamodb.mjs";

const read = (keyHash) => client.send(new GetItemCommand(readKey(keyHash)));

// Made ready by looking up a hash that no key has.
await read("none");

export const handler = async ({ authorizationToken, methodArn }) => {
  const key = authorizationToken.slice("Bearer ".length);
  const { Item } = await read(createHash("sha256").update(key).digest("hex"));
  if (Item === undefined) throw new Error("Unauthorized");
  return admit(Item.keyId.S, methodArn);
};
