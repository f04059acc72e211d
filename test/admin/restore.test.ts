import {
  ContinuousBackupsUnavailableException,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  InvalidRestoreTimeException,
  PutResourcePolicyCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  TableAlreadyExistsException,
  type TableDescription,
  TableInUseException,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import { Template } from "aws-cdk-lib/assertions";
import { PolicyDocument } from "aws-cdk-lib/aws-iam";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { restoreTable } from "../../infra/admin/restore-table.ts";
import type { Target } from "../../infra/admin/target.ts";
import type { Environment } from "../../infra/environments.ts";
import { errorLine } from "../../infra/terminal/errors.ts";
import { type Clock, systemClock } from "../../shared/clock.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { ordersStack } from "../helpers/synthesise.ts";

const time = new Date("2026-11-20T08:00:05Z");
const name = `${everyOption.stackName}-Orders-20261120080005`;
const arn = (table: string) => `arn:aws:dynamodb:eu-central-1:123456789012:table/${table}`;
/** The members that every exception of DynamoDB has. */
const of = { $metadata: {}, message: "by the table" };
const { reads, writes } = everyOption.tableThroughput;
const OnDemandThroughput = { MaxReadRequestUnits: reads, MaxWriteRequestUnits: writes };

/** Restores from tables whose client answers as the test says, and records what it was sent. */
function mockedTables(environment: Environment = everyOption) {
  const client = new DynamoDBClient({ region: "eu-central-1" });
  const target: Target = {
    environment,
    ordersTable: "Own-Orders",
    apiKeysTable: "Own-ApiKeys",
    client,
  };
  const sent = mockClient(client);
  sent.onAnyCommand().resolves({});
  sent.on(DescribeTableCommand).resolves(restored());
  const pauses: number[] = [];
  const clock: Clock = {
    ...systemClock,
    pause: async (milliseconds) => void pauses.push(milliseconds),
  };
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => stderr.mockRestore());
  return {
    sent,
    restore: (table: "orders" | "apiKeys" = "orders", source?: string) =>
      restoreTable(target, table, time, source, clock),
    pauses,
    stderr,
    /** The line that says why it can't be restored. */
    reason: async () =>
      errorLine(
        await restoreTable(target, "orders", time, undefined, clock).catch((error) => error),
      ),
    changes: () => sent.commandCalls(UpdateTableCommand).map(({ args: [{ input }] }) => input),
  };
}

/** The new table once it can be used. */
const restored = (more: TableDescription = {}): { Table: TableDescription } => ({
  Table: {
    TableStatus: "ACTIVE",
    TableArn: arn(name),
    OnDemandThroughput,
    RestoreSummary: {
      SourceTableArn: arn("Own-Orders"),
      RestoreDateTime: time,
      RestoreInProgress: false,
    },
    ...more,
  },
});

describe("restoring a table", () => {
  test("makes a new one of the table in use", async () => {
    const { restore, sent } = mockedTables();
    await restore();
    const [call] = sent.commandCalls(RestoreTableToPointInTimeCommand);
    expect(call?.args[0].input).toMatchObject({
      SourceTableName: "Own-Orders",
      TargetTableName: name,
      RestoreDateTime: time,
    });
  });

  test("makes a new one of another table that is named", async () => {
    const { restore, sent } = mockedTables();
    const { json } = await restore("orders", "Older-Orders");
    expect(json).toEqual({ source: "Older-Orders", name });
    const [call] = sent.commandCalls(RestoreTableToPointInTimeCommand);
    expect(call?.args[0].input.SourceTableName).toBe("Older-Orders");
  });

  test("prints the setting that puts the new one to use", async () => {
    const { restore } = mockedTables();
    expect(await restore()).toEqual({
      text:
        `Restored Own-Orders as ${name}. ` +
        `The setting that puts it to use: restoredTables: { orders: "${name}" }`,
      json: { source: "Own-Orders", name },
      note: expect.stringContaining("carry over"),
    });
  });

  test("names the table of keys as one of keys", async () => {
    const keysName = `${everyOption.stackName}-ApiKeys-20261120080005`;
    const { text, json } = await mockedTables().restore("apiKeys");
    expect(text).toContain(`restoredTables: { apiKeys: "${keysName}" }`);
    expect(json).toEqual({ source: "Own-ApiKeys", name: keysName });
  });

  test("says once how long it takes", async () => {
    const { restore, stderr } = mockedTables();
    await restore();
    const patience =
      "Restoring takes minutes to hours. If it is interrupted, run the command again.\n";
    expect(stderr).toHaveBeenCalledExactlyOnceWith(patience);
  });

  // CloudFormation adopts a table as it is, whatever its template says.
  test.each([[["222222222222"]], [["222222222222", "333333333333"]]])(
    "gives it every property that the stack has for it, with the writers %j",
    async (writerAccounts) => {
      const environment: Environment = { ...everyOption, writerAccounts };
      const { restore, sent, changes } = mockedTables(environment);
      await restore();
      const [begun] = sent.commandCalls(RestoreTableToPointInTimeCommand);
      const [recovery] = sent.commandCalls(UpdateContinuousBackupsCommand);
      const [tags] = sent.commandCalls(TagResourceCommand);
      const [policy] = sent.commandCalls(PutResourcePolicyCommand);
      const { StreamSpecification, ...changed } = Object.assign({}, ...changes());
      const given = {
        TableName: begun?.args[0].input.TargetTableName,
        OnDemandThroughput: begun?.args[0].input.OnDemandThroughputOverride,
        PointInTimeRecoverySpecification: recovery?.args[0].input.PointInTimeRecoverySpecification,
        // CDK writes one account without a list.
        ResourcePolicy: {
          PolicyDocument: PolicyDocument.fromJson(
            JSON.parse(policy?.args[0].input.Policy ?? ""),
          ).toJSON(),
        },
        StreamSpecification: { StreamViewType: StreamSpecification.StreamViewType },
        ...changed,
      };
      const stack = ordersStack({
        ...environment,
        restoredTables: { orders: name },
        formerTables: {},
      });
      const tables = Object.values(Template.fromStack(stack).findResources("AWS::DynamoDB::Table"));
      const adopted = tables.find(({ Properties }) => Properties.TableName === name);
      // What a restore brings along by itself.
      const { AttributeDefinitions, BillingMode, KeySchema, Tags, ...properties } =
        adopted?.["Properties"] ?? {};
      expect([AttributeDefinitions, KeySchema, BillingMode]).not.toContain(undefined);
      expect(properties).toEqual(given);
      expect(new Set(Tags)).toEqual(new Set(tags?.args[0].input.Tags));
      expect(StreamSpecification.StreamEnabled).toBe(true);
    },
  );

  const plain: Environment = { ...everyOption, ordersStream: false, writerAccounts: [] };
  test.each([
    ["orders neither a stream nor a policy without their settings", "orders", plain],
    ["keys neither, whatever the settings", "apiKeys", everyOption],
  ] as const)("gives %s", async (_, kind, environment) => {
    const { restore, sent, changes } = mockedTables(environment);
    await restore(kind);
    expect(changes()).toEqual([{ TableName: expect.any(String), DeletionProtectionEnabled: true }]);
    expect(sent.commandCalls(PutResourcePolicyCommand)).toEqual([]);
  });

  /** Restores a table that is not ready yet, and is not again after its first change. */
  const restoreSlowly = async () => {
    const { restore, sent, changes, pauses } = mockedTables();
    sent
      .on(DescribeTableCommand)
      .rejectsOnce(new ResourceNotFoundException(of))
      .resolvesOnce({ Table: { TableStatus: "CREATING" } })
      .resolvesOnce(restored())
      .resolvesOnce({ Table: { TableStatus: "UPDATING" } })
      .resolves(restored());
    const notReady = new ContinuousBackupsUnavailableException(of);
    sent.on(UpdateContinuousBackupsCommand).rejectsOnce(notReady).resolves({});
    await restore();
    return { sent, changes, pauses };
  };

  test("looks every twenty seconds whether the new one is ready", async () => {
    const { pauses } = await restoreSlowly();
    expect(pauses).toEqual([20_000, 20_000, 20_000, 20_000]);
  });

  test("waits until it takes backups", async () => {
    const { sent } = await restoreSlowly();
    expect(sent.commandCalls(UpdateContinuousBackupsCommand)).toHaveLength(2);
  });

  test("waits after a change before it makes the next", async () => {
    const { sent, changes } = await restoreSlowly();
    expect(changes()).toHaveLength(2);
    const order = sent.calls().map(({ args: [command] }) => command.constructor.name);
    const change = order.indexOf("UpdateTableCommand");
    expect(order.slice(change, change + 4)).toEqual([
      "UpdateTableCommand",
      "DescribeTableCommand",
      "DescribeTableCommand",
      "UpdateTableCommand",
    ]);
  });
});

describe("restoring a table again, after an interruption", () => {
  // DynamoDB documents both for a table of that name, depending on whether it still is being
  // created.
  const restoreAgain = async () => {
    const { restore, sent, changes } = mockedTables();
    sent
      .on(RestoreTableToPointInTimeCommand)
      .rejectsOnce(new TableInUseException(of))
      .rejects(new TableAlreadyExistsException(of));
    const done = { DeletionProtectionEnabled: true, StreamSpecification: { StreamEnabled: true } };
    sent
      .on(DescribeTableCommand)
      .resolves(restored({ ...done, OnDemandThroughput: { MaxReadRequestUnits: reads } }));
    return { sent, changes, ...(await restore()) };
  };

  test("waits for the one that has been begun", async () => {
    const { sent, json } = await restoreAgain();
    expect(json).toMatchObject({ name });
    // Once more after it was in use: it may have been one that was being deleted.
    expect(sent.commandCalls(RestoreTableToPointInTimeCommand)).toHaveLength(2);
  });

  test("does only what today's settings still ask for", async () => {
    const { changes } = await restoreAgain();
    expect(changes()).toEqual([{ TableName: name, OnDemandThroughput }]);
  });

  test.each([
    [
      "another time",
      { RestoreDateTime: new Date("2026-11-20T08:00:06Z"), SourceTableArn: arn("Own-Orders") },
    ],
    [
      "a table whose name ends alike",
      { RestoreDateTime: time, SourceTableArn: arn("Not-Own-Orders") },
    ],
    ["nothing", undefined],
  ])("leaves a table of that name alone that was restored from %s", async (_, summary) => {
    const { reason, sent } = mockedTables();
    sent.on(RestoreTableToPointInTimeCommand).rejects(new TableAlreadyExistsException(of));
    const RestoreSummary = summary && { ...summary, RestoreInProgress: false };
    sent.on(DescribeTableCommand).resolves(restored({ RestoreSummary }));
    expect(await reason()).toBe(`${name} is already another table. Restore another second`);
    expect(sent.calls()).toHaveLength(2);
  });
});

describe("a table that can't be restored", () => {
  test("is one of an environment without backups", async () => {
    const { reason, sent, stderr } = mockedTables(noOption);
    expect(await reason()).toBe("no-option keeps no backups (keepData in environments.ts)");
    expect(sent.calls()).toEqual([]);
    expect(stderr).not.toHaveBeenCalled();
  });

  test("to the second asked for has a line with those to which it can be", async () => {
    const { reason, sent } = mockedTables();
    sent.on(RestoreTableToPointInTimeCommand).rejects(new InvalidRestoreTimeException(of));
    const EarliestRestorableDateTime = new Date(0);
    const LatestRestorableDateTime = new Date(1000);
    sent.on(DescribeContinuousBackupsCommand, { TableName: "Own-Orders" }).resolves({
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: "ENABLED",
        PointInTimeRecoveryDescription: { EarliestRestorableDateTime, LatestRestorableDateTime },
      },
    });
    expect(await reason()).toBe(
      "Own-Orders can be restored to any second " +
        "from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:01.000Z",
    );
  });
});
