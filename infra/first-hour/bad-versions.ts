import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { CloudWatch, paginateDescribeAlarmHistory } from "@aws-sdk/client-cloudwatch";
import { Lambda } from "@aws-sdk/client-lambda";
import { send } from "../smoke/client.ts";
import { excerpt, expectDocumented } from "../smoke/response-problems.ts";
import { type FunctionEntry, functionList } from "../stack/function-list.ts";
import { type Checks, change, eventually, idsOf, type Stage } from "./stage.ts";

/** Each function with code that can't start. */
export const start: Checks = Object.fromEntries(
  Object.values<FunctionEntry>(functionList).map(
    ({ id, file, operation = functionList.listOrders.operation }) => [
      `clients get an Error record while ${id} can't start`,
      async (stage) => {
        await deployBadVersion(stage, file);
        const request = {
          method: operation.method,
          path: operation.path.replace(/\{\w+\}/, "none"),
        };
        return await eventually(stage, async () => {
          const response = await send(stage, request);
          const saw = `${response.status}, ${excerpt(response.body)}`;
          assert(response.status >= 500, `status ${saw}`);
          expectDocumented(response);
          return saw;
        });
      },
    ],
  ),
);

/** Whether alarms and canary stop a version that can't start. */
export const canary: Checks = {
  "alarms about cancellations, and no others, roll back a version that throws": async (stage) => {
    assert(stage.lender, "no other environment has alarms to lend");
    const { stackName } = stage.environment;
    const [name] = idsOf(stage, "AWS::Lambda::Function", "CancelOrder");
    const alias = { FunctionName: name, Name: "live" };
    const begun = new Date();
    const { FunctionVersion: before } = await new Lambda().getAlias(alias);
    const outcome = await cancelUntilDeployed(stage);
    const { FunctionVersion: after } = await new Lambda().getAlias(alias);
    const alarms = await wentOff(`${stackName}-`, begun);
    const described = await new CloudFormation().describeStacks({ StackName: stackName });
    const status = described.Stacks?.[0]?.StackStatus;
    assert(
      status === "UPDATE_ROLLBACK_COMPLETE",
      `the deployment ${outcome}, and the stack is in ${status}: see "A stuck rollback"`,
    );
    const versions = `version ${before} became ${after}`;
    const saw = `the deployment ${outcome}, ${versions}, alarms: ${alarms.join(", ") || "none"}`;
    const areAboutIt = alarms.every((alarm) => alarm.startsWith("AlarmsCancel"));
    assert(alarms.length > 0 && areAboutIt && after === before, saw);
    return saw;
  },
};

/** Deploys a cancellation that throws, with borrowed alarms, and cancels until that has ended. */
async function cancelUntilDeployed(stage: Stage): Promise<string> {
  const lent = ["--context", `alarms-of=${stage.lender}`];
  const deployment = deployBadVersion(stage, "cancel-order.ts", ...lent).then(
    () => "succeeded",
    () => "failed",
  );
  let outcome: string | undefined;
  do {
    await send(stage, { method: "DELETE", path: "/store/orders/none" }).catch(() => {});
    outcome = await Promise.race([deployment, stage.clock.pause(500).then(() => undefined)]);
  } while (outcome === undefined);
  return outcome;
}

/**
 * Deploys a handler that throws when it starts; before that, what the arguments change. What was
 * lent is taken back by accepting that it goes.
 */
async function deployBadVersion(stage: Stage, file: string, ...args: string[]): Promise<void> {
  const { name } = stage.environment;
  const path = `${stage.root}/functions/${file}`;
  const code = await readFile(path, "utf8");
  const first = async () => args.length > 0 && deploy(stage, ...args);
  const back = args.length > 0 ? ["--accept", "alarms-removed"] : [];
  await change(stage, `${name}: deploy it again`, first, () => deploy(stage, ...back));
  const second = async () => {
    await writeFile(path, `${code}\nthrow new Error("first hour");\n`);
    await deploy(stage, ...args);
  };
  await change(stage, `${path}: check it out again`, second, () => writeFile(path, code));
}

/** Deploys the working copy; Ctrl-C doesn't end that. @throws AssertionError when it fails. */
async function deploy({ root: cwd, environment }: Stage, ...args: string[]): Promise<void> {
  const words = ["run", "deploy", "--", environment.name, ...args, "--require-approval", "never"];
  const [code] = await once(
    spawn("npm", words, { cwd, detached: true, stdio: ["ignore", 2, 2] }),
    "exit",
  );
  assert(code === 0, `npm ${words.join(" ")} failed`);
}

/** The alarms that went off since then whose names begin like this, without that. */
async function wentOff(start: string, StartDate: Date): Promise<string[]> {
  const search = { HistoryItemType: "StateUpdate", StartDate } as const;
  const pages = await Array.fromAsync(
    paginateDescribeAlarmHistory({ client: new CloudWatch() }, search),
  );
  const changes = pages.flatMap(({ AlarmHistoryItems = [] }) => AlarmHistoryItems);
  const off = changes.filter(({ HistorySummary = "" }) => HistorySummary.endsWith("to ALARM"));
  const names = off.flatMap(({ AlarmName = "" }) =>
    AlarmName.startsWith(start) ? AlarmName.slice(start.length) : [],
  );
  return [...new Set(names)];
}
