import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  ResourceNotFoundException,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import { requireAdoptedTables } from "../../infra/deploy/adopted-tables.ts";
import type { Template } from "../../infra/deploy/template.ts";
import type { Environment } from "../../infra/environments.ts";
import { dynamoDb, useAws } from "./aws.ts";
import { one, settings, synthesised } from "./templates.ts";

useAws();

const restored: Environment = { ...settings, name: "kept", restoredTables: { orders: "NEW" } };
const next = synthesised(restored);

const { properties } = one(next, "DynamoDB::Table", "Restored");
/** The description of a table that matches the template. */
const matching: TableDescription = {
  TableStatus: "ACTIVE",
  KeySchema: properties["KeySchema"],
  AttributeDefinitions: properties["AttributeDefinitions"],
  DeletionProtectionEnabled: true,
  OnDemandThroughput: properties["OnDemandThroughput"],
  StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
};

/** Has DynamoDB describe the table like this. */
function tableIs(table: TableDescription, recovery: "DISABLED" | "ENABLED" = "ENABLED"): void {
  dynamoDb.on(DescribeTableCommand, { TableName: "NEW" }).resolves({ Table: table });
  dynamoDb.on(DescribeContinuousBackupsCommand, { TableName: "NEW" }).resolves({
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: "ENABLED",
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: recovery },
    },
  });
}

const check = (deployed?: Template) => requireAdoptedTables(restored, deployed, next);

describe("a table that a deployment adopts", () => {
  beforeEach(() => tableIs(matching));

  test("is accepted when it matches the settings", async () => {
    await expect(check()).resolves.toBeUndefined();
  });

  test("stops the deployment when it does not exist", async () => {
    // CloudFormation would make an empty one of that name.
    const missing = new ResourceNotFoundException({ message: "", $metadata: {} });
    dynamoDb.on(DescribeTableCommand).rejects(missing);
    await expect(check()).rejects.toThrow(
      "There is no table NEW: the stack would make an empty one",
    );
  });

  test.each<[string, TableDescription]>([
    ["status", { TableStatus: "UPDATING" }],
    ["key", { KeySchema: [{ AttributeName: "keyHash", KeyType: "HASH" }] }],
    ["key", { AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }] }],
    ["throughput", { OnDemandThroughput: { MaxReadRequestUnits: 1 } }],
    ["deletion protection", { DeletionProtectionEnabled: false }],
    ["stream", { StreamSpecification: { StreamEnabled: false } }],
  ])("stops the deployment when its %s differs from the settings", async (fact, difference) => {
    tableIs({ ...matching, ...difference });
    await expect(check()).rejects.toThrow(
      `Table NEW differs from the settings in its ${fact}: repeat the command that made it ` +
        "(npm run admin -- --env kept orders restore, or keys restore)",
    );
  });

  test("stops the deployment when its point-in-time recovery is off", async () => {
    tableIs(matching, "DISABLED");
    await expect(check()).rejects.toThrow("differs from the settings in its recovery:");
  });

  test("is not asked about once it belongs to the stack", async () => {
    await check(next);
    expect(dynamoDb.calls()).toEqual([]);
  });

  test("stops the deployment when DynamoDB can't be asked", async () => {
    dynamoDb.on(DescribeTableCommand).rejects(new Error("You may not look it up"));
    await expect(check()).rejects.toThrow("You may not look it up");
  });
});
