import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { lister } from "../handlers.mjs";
import { client } from "./dynamodb.mjs";

export const handler = await lister((input) => client.send(new ScanCommand(input)));
