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
import { dynamoDb, useAws } from "./commands.ts";
import { one, settings, synthesised } from "./templates.ts";

useAws();

const restored: Environment = { ...settings, name: "kept", restoredTables: { orders: "NEW" } };
const next = synthesised(restored);

const { properties } = one(next, "DynamoDB::Table", "Restored");
/** The description of a table that is as the template has it. */
const asItShouldBe: TableDescription = {
  TableStatus: "ACTIVE",
  KeySchema: properties["KeySchema"],
  AttributeDefinitions: properties["AttributeDefinitions"],
  DeletionProtectionEnabled: true,
  OnDemandThroughput: properties["OnDemandThroughput"],
  StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
};

function has(table: TableDescription, recovery: "DISABLED" | "ENABLED" = "ENABLED"): void {
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
  beforeEach(() => has(asItShouldBe));

  test("may be as the settings say", async () => {
    await expect(check()).resolves.toBeUndefined();
  });

  test("must exist, or CloudFormation would make an empty one of that name", async () => {
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
  ])("stops the deployment when it has another %s", async (fact, difference) => {
    has({ ...asItShouldBe, ...difference });
    await expect(check()).rejects.toThrow(
      `Table NEW differs from the settings in its ${fact}: repeat the command that made it ` +
        "(npm run admin -- --env kept orders restore, or keys restore)",
    );
  });

  test("stops the deployment when it can't be restored", async () => {
    has(asItShouldBe, "DISABLED");
    await expect(check()).rejects.toThrow("differs from the settings in its recovery:");
  });

  test("is not asked about once it belongs to the stack", async () => {
    await check(next);
    expect(dynamoDb.calls()).toEqual([]);
  });

  test("is not deployed over when DynamoDB can't be asked", async () => {
    dynamoDb.on(DescribeTableCommand).rejects(new Error("You may not look it up"));
    await expect(check()).rejects.toThrow("You may not look it up");
  });
});
