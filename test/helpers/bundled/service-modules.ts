export {
  ConditionalCheckFailedException,
  GetItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
export { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
export * from "../../../shared/api-keys-table.ts";
export * from "../../../shared/dynamodb.ts";
export * from "../../../shared/errors.ts";
export * from "../../../shared/orders-table.ts";
