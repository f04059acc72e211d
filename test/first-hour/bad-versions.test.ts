import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CloudFormationClient,
  DescribeStacksCommand,
  type StackStatus,
} from "@aws-sdk/client-cloudformation";
import { CloudWatchClient, DescribeAlarmHistoryCommand } from "@aws-sdk/client-cloudwatch";
import { GetAliasCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { canary, start } from "../../infra/first-hour/bad-versions.ts";
import { errorResponse, tinyServiceForEachTest } from "../helpers/smoke/tiny-service.ts";
import { runCheck, stageOf } from "./stage.ts";

const service = tinyServiceForEachTest();

describe("a version that throws", () => {
  const stage = () => ({ ...stageOf(service), root });
  let root: string;
  const code = "export const handler = 1;\n";
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "first-hour-"));
    await mkdir(join(root, "functions"));
    for (const file of ["cancel-order.ts", "list-orders.ts"])
      await writeFile(join(root, "functions", file), code);
    const npm = `#!/bin/sh
      if grep -q throw functions/*; then bad=bad; else bad=good; fi
      echo "$bad $*" >> calls; [ $bad = good ] || exit $DEPLOYS`;
    await writeFile(join(root, "npm"), npm, { mode: 0o755 });
    vi.stubEnv("PATH", `${root}:${process.env["PATH"]}`);
    return () => rm(root, { recursive: true });
  });
  const deployments = async () => (await readFile(join(root, "calls"), "utf8")).trim().split("\n");
  const deployed = "run deploy -- no-option --require-approval never";

  test.each<[string, number, RegExp]>([
    ["gets an Error record", 500, /^pass .*: 500, /],
    ["goes on as before", 404, /^FAIL .*status 404/],
  ])("is deployed, then taken back, while its caller %s", async (_what, status, expected) => {
    vi.stubEnv("DEPLOYS", "0");
    let requests = 0;
    // Only the second is for the new version: an alias takes a moment.
    service.fault = (_request, right) =>
      status === 500 && requests++ > 0 ? errorResponse("internal_error") : right;
    expect((await runCheck(start, "CancelOrder", stage()))[0]).toMatch(expected);
    expect(await deployments()).toEqual([`bad ${deployed}`, `good ${deployed}`]);
    expect(await readFile(join(root, "functions/cancel-order.ts"), "utf8")).toBe(code);
  });

  interface Canary {
    title: string;
    /** How the deployment of the bad version exits. */
    exitCode?: string;
    version?: string;
    alarms?: string[];
    status?: StackStatus;
    expected: RegExp;
  }
  test.each<Canary>([
    { title: "is rolled back by its own alarms", expected: /^pass/ },
    {
      title: "is deployed all the same",
      exitCode: "0",
      status: "UPDATE_COMPLETE",
      expected: /^FAIL .*the deployment succeeded, and the stack is in UPDATE_COMPLETE/,
    },
    {
      title: "gets stuck on its way back",
      status: "UPDATE_ROLLBACK_FAILED",
      expected: /^FAIL .*UPDATE_ROLLBACK_FAILED: see "A stuck rollback"$/,
    },
    { title: "stays live", version: "2", expected: /^FAIL .*version 1 became 2/ },
    { title: "raises no alarm", alarms: [], expected: /^FAIL .*alarms: none/ },
    {
      title: "raises the alarm of another",
      alarms: ["AlarmsCancelSlow", "AlarmsListSlow"],
      expected: /^FAIL .*AlarmsListSlow/,
    },
  ])(
    "in a canary $title",
    async ({
      exitCode = "1",
      version = "1",
      alarms = ["AlarmsCancelSlow"],
      status = "UPDATE_ROLLBACK_COMPLETE",
      expected,
    }) => {
      vi.stubEnv("DEPLOYS", exitCode);
      const lambda = mockClient(LambdaClient);
      const cloudWatch = mockClient(CloudWatchClient);
      const cloudFormation = mockClient(CloudFormationClient);
      onTestFinished(() => {
        for (const client of [lambda, cloudWatch, cloudFormation]) client.restore();
      });
      const stack = { StackName: "s", CreationTime: new Date(), StackStatus: status };
      cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [stack] });
      lambda
        .on(GetAliasCommand)
        .resolvesOnce({ FunctionVersion: "1" })
        .resolves({ FunctionVersion: version });
      const went = (name: string, to: string) => ({
        AlarmName: name,
        HistorySummary: `Alarm updated from OK to ${to}`,
      });
      const off = [...alarms.map((name) => `PetStoreOrders-no-option-${name}`), "Other"].map(
        (name) => went(name, "ALARM"),
      );
      const AlarmHistoryItems = [...off, went("PetStoreOrders-no-option-AlarmsKeysRejected", "OK")];
      cloudWatch.on(DescribeAlarmHistoryCommand).resolves({ AlarmHistoryItems });
      expect(await runCheck(canary, "alarms", stage())).toEqual([expect.stringMatching(expected)]);
      const alarmed =
        "run deploy -- no-option --context alarms-of=every-option --require-approval never";
      const back = "run deploy -- no-option --accept alarms-removed --require-approval never";
      expect(await deployments()).toEqual([`good ${alarmed}`, `bad ${alarmed}`, `good ${back}`]);
    },
  );
});
