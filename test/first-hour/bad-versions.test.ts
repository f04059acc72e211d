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
import { canaryChecks, startChecks } from "../../infra/first-hour/bad-versions.ts";
import { errorResponse, tinyServiceForEachTest } from "../helpers/smoke/tiny-service.ts";
import { contextOf, runCheck } from "./check-context.ts";

const service = tinyServiceForEachTest();

/** A working copy, whose `npm` records each deployment: whether its code is good, its options. */
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

describe("the check of code that can't start", () => {
  /** Runs it on a service that then fails, or doesn't. */
  async function runStartCheck(fails: boolean): Promise<string[]> {
    vi.stubEnv("DEPLOYS", "0");
    let requests = 0;
    // Only the second is for the new version: an alias takes a moment.
    service.fault = (_request, right) =>
      fails && requests++ > 0 ? errorResponse("internal_error") : right;
    return await runCheck(startChecks, "CancelOrder", { ...contextOf(service), root });
  }

  test.each([
    { title: "passes when clients get an Error record", fails: true, expected: /^pass .*: 500, / },
    {
      title: "fails when the service goes on as before",
      fails: false,
      expected: /^FAIL .*status 404/,
    },
  ])("$title", async ({ fails, expected }) => {
    expect(await runStartCheck(fails)).toEqual([expect.stringMatching(expected)]);
  });

  test("puts the code back as it was", async () => {
    await runStartCheck(true);
    expect(await readFile(join(root, "functions/cancel-order.ts"), "utf8")).toBe(code);
  });

  test.each([
    ["passes", true],
    ["fails", false],
  ])("deploys the former code again when it %s", async (_verdict, fails) => {
    await runStartCheck(fails);
    const deployed = "run deploy -- no-option --require-approval never";
    expect(await deployments()).toEqual([`bad ${deployed}`, `good ${deployed}`]);
  });
});

describe("the canary check", () => {
  interface Deployment {
    exitCode?: string;
    /** The live version once it has ended. */
    version?: string;
    /** The alarms that go off meanwhile. */
    alarms?: string[];
    /** The stack's, once it has ended. */
    status?: StackStatus;
  }

  /** Runs it while the deployment of the bad version goes like this: by default, as it should. */
  async function runCanaryCheck({
    exitCode = "1",
    version = "1",
    alarms = ["AlarmsCancelSlow"],
    status = "UPDATE_ROLLBACK_COMPLETE",
  }: Deployment): Promise<string[]> {
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
    const change = (name: string, to: string) => ({
      AlarmName: name,
      HistorySummary: `Alarm updated from OK to ${to}`,
    });
    const raised = [...alarms.map((name) => `PetStoreOrders-no-option-${name}`), "Other"];
    const AlarmHistoryItems = [
      ...raised.map((name) => change(name, "ALARM")),
      change("PetStoreOrders-no-option-AlarmsKeysRejected", "OK"),
    ];
    cloudWatch.on(DescribeAlarmHistoryCommand).resolves({ AlarmHistoryItems });
    return await runCheck(canaryChecks, "alarms", { ...contextOf(service), root });
  }

  const rows: [title: string, deployment: Deployment, expected: RegExp][] = [
    ["passes when its own alarms roll the bad version back", {}, /^pass/],
    [
      "fails when the bad version is deployed all the same",
      { exitCode: "0", status: "UPDATE_COMPLETE" },
      /^FAIL .*the deployment succeeded, and the stack is in UPDATE_COMPLETE/,
    ],
    [
      "fails when the rollback gets stuck",
      { status: "UPDATE_ROLLBACK_FAILED" },
      /^FAIL .*UPDATE_ROLLBACK_FAILED: see "A stuck rollback"$/,
    ],
    ["fails when the bad version stays live", { version: "2" }, /^FAIL .*version 1 became 2/],
    ["fails when no alarm goes off", { alarms: [] }, /^FAIL .*alarms: none/],
    [
      "fails when an alarm about lists goes off, too",
      { alarms: ["AlarmsCancelSlow", "AlarmsListSlow"] },
      /^FAIL .*AlarmsListSlow/,
    ],
  ];

  test.each(rows)("%s", async (_title, deployment, expected) => {
    expect(await runCanaryCheck(deployment)).toEqual([expect.stringMatching(expected)]);
  });

  test.each(rows)(
    "deploys the former code without the borrowed alarms: %s",
    async (_, deployment) => {
      await runCanaryCheck(deployment);
      const alarmed =
        "run deploy -- no-option --context alarms-of=every-option --require-approval never";
      const back = "run deploy -- no-option --accept alarms-removed --require-approval never";
      expect(await deployments()).toEqual([`good ${alarmed}`, `bad ${alarmed}`, `good ${back}`]);
    },
  );
});
