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
const members = { $metadata: {}, message: "by the table" };
const { reads, writes } = everyOption.tableThroughput;
const OnDemandThroughput = { MaxReadRequestUnits: reads, MaxWriteRequestUnits: writes };

/** Restores tables through a client that responds as the test says and records its commands. */
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
    /** The line about the error of a restore that fails. */
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
  test("makes a new table from the one in use", async () => {
    const { restore, sent } = mockedTables();
    await restore();
    const [call] = sent.commandCalls(RestoreTableToPointInTimeCommand);
    expect(call?.args[0].input).toMatchObject({
      SourceTableName: "Own-Orders",
      TargetTableName: name,
      RestoreDateTime: time,
    });
  });

  test("makes a new table from another one that is named", async () => {
    const { restore, sent } = mockedTables();
    const { json } = await restore("orders", "Older-Orders");
    expect(json).toEqual({ source: "Older-Orders", name });
    const [call] = sent.commandCalls(RestoreTableToPointInTimeCommand);
    expect(call?.args[0].input.SourceTableName).toBe("Older-Orders");
  });

  test("prints the setting to use the new table", async () => {
    const { restore } = mockedTables();
    expect(await restore()).toEqual({
      text:
        `Restored Own-Orders as ${name}. ` + `To use it, set restoredTables: { orders: "${name}" }`,
      json: { source: "Own-Orders", name },
      note: expect.stringContaining("carry over"),
    });
  });

  test("names a restored table of keys after ApiKeys", async () => {
    const keysName = `${everyOption.stackName}-ApiKeys-20261120080005`;
    const { text, json } = await mockedTables().restore("apiKeys");
    expect(text).toContain(`restoredTables: { apiKeys: "${keysName}" }`);
    expect(json).toEqual({ source: "Own-ApiKeys", name: keysName });
  });

  test("says once how long it takes", async () => {
    const { restore, stderr } = mockedTables();
    await restore();
    expect(stderr).toHaveBeenCalledExactlyOnceWith(
      "Restoring takes minutes to hours. If it is interrupted, run the command again.\n",
    );
  });

  // CloudFormation adopts a table as it is, whatever its template says.
  test.each([[["222222222222"]], [["222222222222", "333333333333"]]])(
    "gives the new table every property that the stack's template has, with the writers %j",
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
      // A restore copies the first three itself. The tags are compared below.
      const { AttributeDefinitions, BillingMode, KeySchema, Tags, ...properties } =
        adopted?.["Properties"] ?? {};
      expect([AttributeDefinitions, KeySchema, BillingMode]).not.toContain(undefined);
      expect(properties).toEqual(given);
      expect(new Set(Tags)).toEqual(new Set(tags?.args[0].input.Tags));
      expect(StreamSpecification.StreamEnabled).toBe(true);
    },
  );

  const plain: Environment = { ...everyOption, ordersStream: false, writerAccounts: [] };
  describe.each([
    ["orders without those settings", "orders", plain],
    ["keys, whatever the settings", "apiKeys", everyOption],
  ] as const)("of %s", (_, kind, environment) => {
    test("gives the new table no stream", async () => {
      const { restore, changes } = mockedTables(environment);
      await restore(kind);
      expect(changes()).toEqual([
        { TableName: expect.any(String), DeletionProtectionEnabled: true },
      ]);
    });

    test("gives the new table no policy", async () => {
      const { restore, sent } = mockedTables(environment);
      await restore(kind);
      expect(sent.commandCalls(PutResourcePolicyCommand)).toEqual([]);
    });
  });

  /** Restores a table that is not ready at first, nor after its first change. */
  const restoreSlowly = async () => {
    const { restore, sent, changes, pauses } = mockedTables();
    sent
      .on(DescribeTableCommand)
      .rejectsOnce(new ResourceNotFoundException(members))
      .resolvesOnce({ Table: { TableStatus: "CREATING" } })
      .resolvesOnce(restored())
      .resolvesOnce({ Table: { TableStatus: "UPDATING" } })
      .resolves(restored());
    const notReady = new ContinuousBackupsUnavailableException(members);
    sent.on(UpdateContinuousBackupsCommand).rejectsOnce(notReady).resolves({});
    await restore();
    return { sent, changes, pauses };
  };

  test("checks every twenty seconds whether the new table is ready", async () => {
    const { pauses } = await restoreSlowly();
    expect(pauses).toEqual([20_000, 20_000, 20_000, 20_000]);
  });

  test("retries until backups can be switched on", async () => {
    const { sent } = await restoreSlowly();
    expect(sent.commandCalls(UpdateContinuousBackupsCommand)).toHaveLength(2);
  });

  test("waits until the new table is ready again before the next change", async () => {
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

describe("restoring a table again after an interruption", () => {
  // DynamoDB documents both for a table of that name, depending on whether it still is being
  // created.
  const restoreAgain = async () => {
    const { restore, sent, changes } = mockedTables();
    sent
      .on(RestoreTableToPointInTimeCommand)
      .rejectsOnce(new TableInUseException(members))
      .rejects(new TableAlreadyExistsException(members));
    const done = { DeletionProtectionEnabled: true, StreamSpecification: { StreamEnabled: true } };
    sent
      .on(DescribeTableCommand)
      .resolves(restored({ ...done, OnDemandThroughput: { MaxReadRequestUnits: reads } }));
    return { sent, changes, ...(await restore()) };
  };

  test("waits for the restore that has already begun", async () => {
    const { sent, json } = await restoreAgain();
    expect(json).toMatchObject({ name });
    // Tried again, because the table in use could have been one that was being deleted.
    expect(sent.commandCalls(RestoreTableToPointInTimeCommand)).toHaveLength(2);
  });

  test("does only what today's settings still ask for", async () => {
    const { changes } = await restoreAgain();
    expect(changes()).toEqual([{ TableName: name, OnDemandThroughput }]);
  });

  test.each([
    [
      "restored to another second",
      { RestoreDateTime: new Date("2026-11-20T08:00:06Z"), SourceTableArn: arn("Own-Orders") },
    ],
    [
      "restored from a table whose name ends the same",
      { RestoreDateTime: time, SourceTableArn: arn("Not-Own-Orders") },
    ],
    ["not restored", undefined],
  ])("leaves alone a table of that name that was %s", async (_, summary) => {
    const { reason, sent } = mockedTables();
    sent.on(RestoreTableToPointInTimeCommand).rejects(new TableAlreadyExistsException(members));
    const RestoreSummary = summary && { ...summary, RestoreInProgress: false };
    sent.on(DescribeTableCommand).resolves(restored({ RestoreSummary }));
    expect(await reason()).toBe(`${name} exists and is not this restore. Choose another second`);
    expect(sent.calls()).toHaveLength(2);
  });
});

describe("a restore is rejected", () => {
  test("for an environment without backups", async () => {
    const { reason, sent, stderr } = mockedTables(noOption);
    expect(await reason()).toBe("no-option keeps no backups (keepData in environments.ts)");
    expect(sent.calls()).toEqual([]);
    expect(stderr).not.toHaveBeenCalled();
  });

  test("for a time outside the backups, with the range that they cover", async () => {
    const { reason, sent } = mockedTables();
    sent.on(RestoreTableToPointInTimeCommand).rejects(new InvalidRestoreTimeException(members));
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
