import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { CloudWatch, paginateDescribeAlarmHistory } from "@aws-sdk/client-cloudwatch";
import { Lambda } from "@aws-sdk/client-lambda";
import { type Environment, environments } from "../environments.ts";
import { send } from "../smoke/client.ts";
import { excerpt, expectDocumented } from "../smoke/expect.ts";
import { type FunctionEntry, functionList, operations } from "../stack/function-list.ts";
import type { Checks } from "./run-checks.ts";
import { change, eventually, idsOf, type Stage } from "./stage.ts";

/** Checks each function with code that can't start. @param root the working copy to deploy. */
export function startChecks(root: string): Checks {
  const entries = Object.values<FunctionEntry>(functionList).map(({ id, file, operation = operations[0] }) => {
    const check = async (stage: Stage): Promise<string> => {
      assert(operation);
      await deployBadVersion(stage, root, file);
      const request = { method: operation.method, path: operation.path.replace(/\{\w+\}/, "none") };
      return await eventually(stage, async () => {
        const response = await send(stage, request);
        assert(response.status >= 500, `status ${response.status}, ${excerpt(response.body)}`);
        expectDocumented(response);
        return `${response.status}, ${excerpt(response.body)}`;
      });
    };
    return [`clients get an Error record while ${id} can't start`, check];
  });
  return Object.fromEntries(entries);
}

/**
 * Whether alarms and canary stop a version that can't start.
 *
 * @param root the working copy to deploy.
 * @param lenders the environments that may lend their alarms.
 */
export function canaryCheck(root: string, lenders: Environment[] = Object.values(environments)): Checks {
  return {
    "alarms about cancellations, and no others, roll back a version that throws": async (stage) => {
      const lender = lenders.find(({ name, alarms }) => alarms && name !== stage.environment.name);
      assert(lender, "no other environment has alarms to lend");
      const alias = { FunctionName: idsOf(stage, "AWS::Lambda::Function", "CancelOrder")[0], Name: "live" };
      const [begun, { FunctionVersion: before }] = [new Date(), await new Lambda().getAlias(alias)];
      let outcome = "";
      deployBadVersion(stage, root, "cancel-order.ts", "--context", `alarms-of=${lender.name}`).then(
        () => (outcome = "succeeded"),
        () => (outcome = "failed"),
      );
      while (outcome === "") {
        await send(stage, { method: "DELETE", path: "/store/orders/none" }).catch(() => {});
        await stage.clock.pause(500);
      }
      const { FunctionVersion: after } = await new Lambda().getAlias(alias);
      const alarms = await wentOff(`${stage.environment.stackName}-`, begun);
      const saw = `the deployment ${outcome}, version ${before} became ${after}, alarms: ${alarms.join(", ") || "none"}`;
      const right = alarms.length > 0 && alarms.every((alarm) => alarm.startsWith("AlarmsCancel"));
      assert(outcome === "failed" && after === before && right, saw);
      return saw;
    },
  };
}

/** Deploys a handler that throws when it starts; before that, what the arguments change. */
async function deployBadVersion(stage: Stage, root: string, file: string, ...args: string[]): Promise<void> {
  const path = `${root}/functions/${file}`;
  const code = await readFile(path, "utf8");
  const deployIt = (...more: string[]) => deploy(root, stage.environment.name, ...more);
  const first = async () => args.length > 0 && deployIt(...args);
  await change(stage, `${stage.environment.name}: deploy it again`, first, () => deployIt());
  const write = (text: string) => () => writeFile(path, text);
  const bad = `${code}\nthrow new Error("first hour");\n`;
  await change(stage, `${path}: check it out again`, write(bad), write(code));
  // Nothing is put back before this is over: CloudFormation goes on in any case.
  const nothing = async () => {};
  await change(stage, "", () => deployIt(...args), nothing);
}

/** Deploys the working copy; Ctrl-C doesn't end that. @throws AssertionError when it fails. */
async function deploy(cwd: string, ...args: string[]): Promise<void> {
  const words = ["run", "deploy", "--", ...args, "--require-approval", "never"];
  const [code] = await once(spawn("npm", words, { cwd, detached: true, stdio: ["ignore", 2, 2] }), "exit");
  assert(code === 0, `npm ${words.join(" ")} failed`);
}

/** The alarms that went off since then whose names begin like this, without that. */
async function wentOff(start: string, StartDate: Date): Promise<string[]> {
  const search = { HistoryItemType: "StateUpdate", StartDate } as const;
  const pages = await Array.fromAsync(paginateDescribeAlarmHistory({ client: new CloudWatch() }, search));
  const changes = pages.flatMap(({ AlarmHistoryItems = [] }) => AlarmHistoryItems);
  const off = changes.filter(({ HistorySummary = "" }) => HistorySummary.endsWith("to ALARM"));
  const names = new Set(off.map(({ AlarmName = "" }) => AlarmName));
  return [...names].filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
}
