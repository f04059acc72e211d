import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { CloudFormation } from "@aws-sdk/client-cloudformation";
import { CloudWatch, paginateDescribeAlarmHistory } from "@aws-sdk/client-cloudwatch";
import { Lambda } from "@aws-sdk/client-lambda";
import { send } from "../smoke/client.ts";
import { excerpt, expectDocumented } from "../smoke/expect-response.ts";
import { type FunctionEntry, functionList } from "../stack/function-list.ts";
import { type CheckContext, type Checks, change, eventually, idsOf } from "./run-checks.ts";

/** The responses that clients get of each function whose code can't start. */
export const startChecks: Checks = Object.fromEntries(
  Object.values<FunctionEntry>(functionList).map((entry) => [
    `clients get an Error record while ${entry.id} can't start`,
    (context) => seeFailedStart(context, entry),
  ]),
);

async function seeFailedStart(context: CheckContext, entry: FunctionEntry): Promise<string> {
  // Every operation needs the authorizer, which has none of its own.
  const { file, operation = functionList.listOrders.operation } = entry;
  const path = operation.path.replace(/\{\w+\}/, "none");
  await deployBadVersion(context, file);
  return await eventually(context, async () => {
    const response = await send(context, { method: operation.method, path });
    const saw = `${response.status}, ${excerpt(response.body)}`;
    assert(response.status >= 500, `status ${saw}`);
    expectDocumented(response);
    return saw;
  });
}

/** Whether alarms and canary stop a version that can't start. */
export const canaryChecks: Checks = {
  "alarms about cancellations, and no others, roll back a version that throws": async (context) => {
    const { stackName } = context.environment;
    const [name] = idsOf(context, "AWS::Lambda::Function", "CancelOrder");
    const alias = { FunctionName: name, Name: "live" };
    const begun = new Date();
    const { FunctionVersion: before } = await new Lambda().getAlias(alias);
    const outcome = await cancelUntilDeployed(context);
    const { FunctionVersion: after } = await new Lambda().getAlias(alias);
    const alarms = await raisedAlarms(stackName, begun);
    const described = await new CloudFormation().describeStacks({ StackName: stackName });
    const status = described.Stacks?.[0]?.StackStatus;
    assert(
      status === "UPDATE_ROLLBACK_COMPLETE",
      `the deployment ${outcome}, and the stack is in ${status}: see "A stuck rollback"`,
    );
    const versions = `version ${before} became ${after}`;
    const saw = `the deployment ${outcome}, ${versions}, alarms: ${alarms.join(", ") || "none"}`;
    const areAboutCancellations = alarms.every((alarm) => alarm.startsWith("AlarmsCancel"));
    assert(alarms.length > 0 && areAboutCancellations && after === before, saw);
    return saw;
  },
};

/** Deploys a cancellation that throws, with borrowed alarms, and cancels until that has ended. */
async function cancelUntilDeployed(context: CheckContext): Promise<string> {
  const { alarmsOf, clock } = context;
  assert(alarmsOf, "no other environment has alarms to borrow");
  const deployment = deployBadVersion(context, "cancel-order.ts", alarmsOf).then(
    () => "succeeded",
    () => "failed",
  );
  let outcome: string | undefined;
  do {
    await send(context, { method: "DELETE", path: "/store/orders/none" }).catch(() => {});
    outcome = await Promise.race([deployment, clock.pause(500).then(() => undefined)]);
  } while (outcome === undefined);
  return outcome;
}

/**
 * Deploys a handler that throws when it starts; before that, the alarms of another environment if
 * they are to watch the deployment.
 */
async function deployBadVersion(
  context: CheckContext,
  file: string,
  alarmsOf?: string,
): Promise<void> {
  const { root, environment } = context;
  const path = `${root}/functions/${file}`;
  const code = await readFile(path, "utf8");
  const withAlarms = alarmsOf ? ["--context", `alarms-of=${alarmsOf}`] : [];
  // Otherwise the deployment without the borrowed alarms would stop.
  const withoutAlarms = alarmsOf ? ["--accept", "alarms-removed"] : [];
  await change(
    context,
    `${environment.name}: deploy it again`,
    async () => alarmsOf && deploy(context, ...withAlarms),
    () => deploy(context, ...withoutAlarms),
  );
  const breakCode = async () => {
    await writeFile(path, `${code}\nthrow new Error("first hour");\n`);
    await deploy(context, ...withAlarms);
  };
  await change(context, `${path}: check it out again`, breakCode, () => writeFile(path, code));
}

/** Deploys the working copy; Ctrl-C doesn't end that. @throws AssertionError when it fails. */
async function deploy(context: CheckContext, ...options: string[]): Promise<void> {
  const { root: cwd, environment } = context;
  const approved = ["--require-approval", "never"];
  const args = ["run", "deploy", "--", environment.name, ...options, ...approved];
  const npm = spawn("npm", args, { cwd, detached: true, stdio: ["ignore", 2, 2] });
  const [exitCode] = await once(npm, "exit");
  assert(exitCode === 0, `npm ${args.join(" ")} failed`);
}

/** The alarms of a stack that went off since then, without the stack's name. */
async function raisedAlarms(stackName: string, StartDate: Date): Promise<string[]> {
  const search = { HistoryItemType: "StateUpdate", StartDate } as const;
  const history = paginateDescribeAlarmHistory({ client: new CloudWatch() }, search);
  const pages = await Array.fromAsync(history);
  const names = pages
    .flatMap(({ AlarmHistoryItems = [] }) => AlarmHistoryItems)
    .filter(({ HistorySummary }) => HistorySummary?.endsWith("to ALARM"))
    .map(({ AlarmName = "" }) => AlarmName)
    .filter((name) => name.startsWith(`${stackName}-`))
    .map((name) => name.slice(stackName.length + 1));
  return [...new Set(names)];
}
