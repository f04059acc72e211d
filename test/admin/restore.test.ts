import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  ContinuousBackupsUnavailableException,
  DescribeTableCommand,
  PointInTimeRecoveryUnavailableException,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  TableAlreadyExistsException,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { errorLine } from "../../infra/admin/errors.ts";
import { restoreTable } from "../../infra/admin/restore-table.ts";
import { environments } from "../../infra/environments.ts";
import { root } from "../helpers/admin/admin-command.ts";
import { arn, mockedTables, name, of, restored, time } from "../helpers/admin/mocked-restore.ts";

const { production, staging } = environments;

describe("restoring a table", () => {
  test("restores it with the throughput of the settings, waits, and gives it what a restore leaves behind", async () => {
    const { target, sent, calls } = mockedTables({ ...production, ordersStream: true });
    sent
      .on(DescribeTableCommand)
      .rejectsOnce(new ResourceNotFoundException(of))
      .resolvesOnce({ Table: { TableStatus: "CREATING" } })
      .resolves(restored({ LatestStreamArn: "arn:the-stream" }));
    const notReady = new ContinuousBackupsUnavailableException(of);
    sent.on(UpdateContinuousBackupsCommand).rejectsOnce(notReady).resolves({ ContinuousBackupsDescription: undefined });

    expect(await restoreTable(target, "orders", time, 1)).toEqual({
      text: expect.stringContaining(`restoredTables: { orders: "${name}", ordersStreamArn: "arn:the-stream" }`),
      json: { source: "Own-Orders", name, streamArn: "arn:the-stream" },
      note: expect.stringContaining("carry over"),
    });
    const describeTable = { DescribeTableCommand: { TableName: name } };
    const recovery = { TableName: name, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } };
    expect(calls()).toEqual([
      {
        RestoreTableToPointInTimeCommand: {
          SourceTableName: "Own-Orders",
          TargetTableName: name,
          RestoreDateTime: time,
          OnDemandThroughputOverride: { MaxReadRequestUnits: 12_000, MaxWriteRequestUnits: 2_000 },
        },
      },
      ...[describeTable, describeTable, describeTable],
      { TagResourceCommand: { ResourceArn: arn(name), Tags: expect.any(Array) } },
      ...[{ UpdateContinuousBackupsCommand: recovery }, { UpdateContinuousBackupsCommand: recovery }],
      { UpdateTableCommand: { TableName: name, DeletionProtectionEnabled: true } },
      describeTable,
      {
        UpdateTableCommand: {
          TableName: name,
          StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
        },
      },
      describeTable,
    ]);
  });

  test("run again, does what is left", async () => {
    const { target, sent } = mockedTables({ ...production, ordersStream: true });
    sent.on(RestoreTableToPointInTimeCommand).rejects(new TableAlreadyExistsException(of));
    const done = {
      DeletionProtectionEnabled: true,
      StreamSpecification: { StreamEnabled: true },
      LatestStreamArn: "arn:s",
    };
    sent.on(DescribeTableCommand).resolves(restored(done));
    expect((await restoreTable(target, "orders", time, 1)).json).toMatchObject({ name, streamArn: "arn:s" });
    expect(sent.commandCalls(UpdateTableCommand)).toHaveLength(0);
  });

  test("looks at the new table every twenty seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"], fakeNodeBuiltins: true });
    onTestFinished(() => void vi.useRealTimers());
    const { target, sent } = mockedTables();
    sent
      .on(DescribeTableCommand)
      .resolvesOnce({ Table: { TableStatus: "CREATING" } })
      .resolves(restored());
    const restoring = restoreTable(target, "orders", time);
    await vi.advanceTimersByTimeAsync(19_999);
    expect(sent.commandCalls(DescribeTableCommand)).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect((await restoring).json).toMatchObject({ name });
  });

  test("restores the keys under their own name, without a stream", async () => {
    const { target, sent } = mockedTables({ ...production, ordersStream: true });
    sent.on(DescribeTableCommand).resolves(restored({ DeletionProtectionEnabled: true }));
    const named = "PetStoreOrders-production-ApiKeys-20261120080005";
    const { text, json } = await restoreTable(target, "apiKeys", time, 1);
    expect(text).toContain(`restoredTables: { apiKeys: "${named}" }`);
    expect(json).toEqual({ source: "Own-ApiKeys", name: named, streamArn: null });
    expect(sent.commandCalls(UpdateTableCommand)).toHaveLength(0);
  });

  test("gives the new table the tags that the stack gives its own, and no stream that the stack has not", async () => {
    const { Resources } = JSON.parse(
      await readFile(join(inject("assembly"), `${staging.stackName}.template.json`), "utf8"),
    );
    const table = Object.values<{ Type: string; Properties: { Tags: { Key: string }[] } }>(Resources).find(
      ({ Type }) => Type === "AWS::DynamoDB::Table",
    );
    const { target, sent } = mockedTables({ ...staging, keepData: true });
    sent.on(DescribeTableCommand).resolves(restored());
    await restoreTable(target, "orders", time, 1);
    expect(sent.commandCalls(UpdateTableCommand).map(({ args: [{ input }] }) => input)).toEqual([
      { TableName: expect.any(String), DeletionProtectionEnabled: true },
    ]);
    const [call] = sent.commandCalls(TagResourceCommand);
    const byKey = (tags: { Key?: string | undefined }[] = []) =>
      tags.toSorted((a, b) => (String(a.Key) < String(b.Key) ? -1 : 1));
    expect(table?.Properties.Tags).toHaveLength(2);
    expect(byKey(call?.args[0].input.Tags)).toEqual(byKey(table?.Properties.Tags));
  });

  test.each([
    ["another time", { RestoreDateTime: new Date("2026-11-20T08:00:06Z"), SourceTableArn: arn("Own-Orders") }],
    ["a table whose name ends alike", { RestoreDateTime: time, SourceTableArn: arn("Not-Own-Orders") }],
    ["another table", { RestoreDateTime: time, SourceTableArn: arn("Other") }],
    ["nothing", undefined],
  ])("leaves a table of that name alone that was restored from %s", async (_, summary) => {
    const { target, sent } = mockedTables();
    sent.on(RestoreTableToPointInTimeCommand).rejects(new TableAlreadyExistsException(of));
    const RestoreSummary = summary && { ...summary, RestoreInProgress: false };
    sent.on(DescribeTableCommand).resolves(restored({ RestoreSummary }));
    const error: unknown = await restoreTable(target, "orders", time, 1).catch((error: unknown) => error);
    expect(errorLine(error)).toBe(`${name} is already another table. Restore another second`);
    expect(sent.calls()).toHaveLength(2);
  });

  test("needs backups", async () => {
    const { target, sent } = mockedTables(staging);
    const error: unknown = await restoreTable(target, "orders", time, 1).catch((error: unknown) => error);
    expect(errorLine(error)).toBe("staging keeps no backups (keepData in environments.ts)");
    expect(sent.calls()).toEqual([]);
  });

  test.each([
    ["infra/README.md", ["ApiKeys"]],
    ["infra/admin/README.md", ["Orders", "ApiKeys"]],
    ["shared/ORDERS-TABLE.md", ["Orders"]],
  ])("makes tables that the policies in %s fit", async (page, kinds) => {
    const text = await readFile(join(root, page), "utf8");
    const patterns = [...text.matchAll(/"arn:aws:dynamodb:REGION:ACCOUNT:table\/(.*?)\*"/g)];
    expect(patterns).toHaveLength(1);
    const start = String(patterns[0]?.[1]).replace("STACK", production.stackName);
    for (const kind of kinds) expect(`${production.stackName}-${kind}-20261120080005`.startsWith(start)).toBe(true);
    // CDK puts no hyphen before what it adds to the name of the stack's own.
    for (const kind of kinds) expect(`${production.stackName}-${kind}7B9C`.startsWith(start)).toBe(true);
  });

  test("says what DynamoDB has against it", async () => {
    const { target, sent } = mockedTables();
    sent.on(RestoreTableToPointInTimeCommand).rejects(new PointInTimeRecoveryUnavailableException(of));
    const error: unknown = await restoreTable(target, "orders", time, 1).catch((error: unknown) => error);
    expect(errorLine(error)).toBe("DynamoDB can't restore that: by the table");
  });
});
