import { call } from "./dynamodb.mjs";
import { canceller } from "./handlers.mjs";

export const handler = await canceller(async (input) => {
  const { status, body } = await call("UpdateItem", input);
  return status === 200 ? undefined : body;
});
