import { call } from "./dynamodb.mjs";
import { lister } from "./handlers.mjs";

export const handler = await lister(async (input) => (await call("Scan", input)).body);
