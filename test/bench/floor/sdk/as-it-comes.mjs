// The SDK as it comes, whichever protocol our functions choose.
import { DynamoDBClient as Client } from "../../../../node_modules/@aws-sdk/client-dynamodb/dist-es/index.js";

export * from "../../../../node_modules/@aws-sdk/client-dynamodb/dist-es/index.js";
export class DynamoDBClient extends Client {
  constructor({ protocol: _, ...settings }) {
    super(settings);
  }
}
