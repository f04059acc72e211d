import { call } from "./dynamodb.mjs";
import { authorizer } from "./handlers.mjs";

export const handler = await authorizer(
  async (input) => (await call("GetItem", input)).body,
);
