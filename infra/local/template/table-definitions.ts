import { BillingMode, type CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { z } from "zod";
import { ignoring } from "./checked.ts";
import type { Template } from "./template.ts";

const tableSchema = z.strictObject({
  KeySchema: z.array(z.strictObject({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) })),
  AttributeDefinitions: z.array(z.strictObject({ AttributeName: z.string(), AttributeType: z.enum(["B", "N", "S"]) })),
  ...ignoring(
    "BillingMode",
    "DeletionProtectionEnabled",
    "OnDemandThroughput",
    "PointInTimeRecoverySpecification",
    "SSESpecification",
    "Tags",
  ),
});

/** The tables of a template, as DynamoDB creates them. */
export function readTables(template: Template): (CreateTableCommandInput & { TableName: string })[] {
  return template
    .all("AWS::DynamoDB::Table", tableSchema)
    .map(({ name, properties: { KeySchema, AttributeDefinitions } }) => ({
      TableName: name,
      BillingMode: BillingMode.PAY_PER_REQUEST,
      KeySchema,
      AttributeDefinitions,
    }));
}
