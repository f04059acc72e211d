import {
  ConditionalCheckFailedException,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { canceller } from "../handlers.mjs";
import { client } from "./dynamodb.mjs";

export const handler = await canceller(async (input) => {
  try {
    await client.send(new UpdateItemCommand(input));
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return error;
    throw error;
  }
});
