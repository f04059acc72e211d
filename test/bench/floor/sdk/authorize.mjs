import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { authorizer } from "../handlers.mjs";
import { client } from "./dynamodb.mjs";

export const handler = await authorizer((input) => client.send(new GetItemCommand(input)));
