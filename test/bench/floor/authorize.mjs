import { createHash } from "node:crypto";
import { call } from "./dynamodb.mjs";
import { admit, readKey } from "./requests.mjs";

// Made ready by looking up a hash that no key has.
await call("GetItem", readKey("none"));

export const handler = async ({ authorizationToken, methodArn }) => {
  const key = authorizationToken.slice("Bearer ".length);
  const { body } = await call("GetItem", readKey(createHash("sha256").update(key).digest("hex")));
  if (body.Item === undefined) throw new Error("Unauthorized");
  return admit(body.Item.keyId.S, methodArn);
};
