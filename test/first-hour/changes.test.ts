import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudWatchClient, DescribeAlarmHistoryCommand } from "@aws-sdk/client-cloudwatch";
import {
  CloudWatchLogsClient,
  DescribeMetricFiltersCommand,
  FilterLogEventsCommand,
  TestMetricFilterCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { DeleteRolePolicyCommand, IAMClient, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import { GetAliasCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { type AwsClientStub, mockClient } from "aws-sdk-client-mock";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { canaryCheck, startChecks } from "../../infra/first-hour/bad-versions.ts";
import { lists } from "../../infra/first-hour/lists.ts";
import { logs } from "../../infra/first-hour/logs.ts";
import { change } from "../../infra/first-hour/stage.ts";
import { errorBody } from "../../shared/errors.ts";
import { runCheck, stageOf } from "../helpers/first-hour.ts";
import { everyOption, noOption } from "../helpers/fixture-environments.ts";
import { listHeaders, startTinyService } from "../helpers/smoke/tiny-service.ts";

let service: Awaited<ReturnType<typeof startTinyService>>;
let cloudWatchLogs: AwsClientStub<CloudWatchLogsClient>;
beforeEach(async () => {
  service = await startTinyService();
  cloudWatchLogs = mockClient(CloudWatchLogsClient);
});
afterEach(async () => {
  cloudWatchLogs.restore();
  await service.stop();
});

/** Every log has these lines. Patterns between % are regular expressions; any other one finds the lines with its text. */
function logged(...messages: string[]): void {
  const matches = (pattern = "", message: string): boolean =>
    /^%.*%$/.test(pattern) ? new RegExp(pattern.slice(1, -1)).test(message) : message.includes(pattern);
  cloudWatchLogs.on(FilterLogEventsCommand).callsFake(({ filterPattern }) => {
    return { events: messages.filter((message) => matches(filterPattern, message)).map((message) => ({ message })) };
  });
  cloudWatchLogs.on(TestMetricFilterCommand).callsFake(({ filterPattern, logEventMessages }) => {
    return { matches: logEventMessages.filter((message: string) => matches(filterPattern, message)) };
  });
}

describe("what a check has changed", () => {
  test("is put back when it fails, the last change first, and what can't be is named", async () => {
    const seen: string[] = [];
    const step = (text: string) => async () => void seen.push(text);
    const stage = stageOf(service);
    const check = async () => {
      await change(stage, "the first", step("made 1"), step("undone 1"));
      await change(stage, "the second", step("made 2"), () => Promise.reject(new Error("access denied")));
      throw new Error("no such thing");
    };
    expect(await runCheck({ check, next: async () => "all well" }, "", stage)).toEqual([
      "FAIL check: no such thing",
      "FAIL could not put back the second: access denied",
      "pass next: all well",
    ]);
    expect(seen).toEqual(["made 1", "made 2", "undone 1"]);
  });

  test("is put back after an interruption, once it has been made, and nothing more is changed", async () => {
    const interruption = new AbortController();
    const stage = stageOf(service, interruption.signal);
    const seen: string[] = [];
    const made = Promise.withResolvers<void>();
    const check = async () => {
      const making = change(
        stage,
        "it",
        () => made.promise.then(() => void seen.push("made")),
        async () => {
          seen.push("undone");
          await change(
            stage,
            "more",
            async () => seen.push("more"),
            async () => {},
          ).catch(() => {});
        },
      );
      interruption.abort();
      setImmediate(made.resolve);
      await making;
      return "";
    };
    expect(await runCheck({ check, next: check }, "", stage)).toEqual(["FAIL check: interrupted"]);
    expect(seen).toEqual(["made", "undone"]);
  });
});

test("how long a slow list held its function is asked once its line had time to appear", async () => {
  const stage = stageOf(service);
  const report = (durationMs: number) => ({ message: JSON.stringify({ record: { metrics: { durationMs } } }) });
  cloudWatchLogs.on(FilterLogEventsCommand).callsFake(() => ({
    events: stage.clock.now() < 30_000 ? [report(900)] : [report(900), report(61_000)],
  }));
  const [line] = await runCheck(lists, "how long", stage);
  expect(line).toMatch(/^seen .* took 61000 ms$/);
});

describe("a list that loses its permission midway", () => {
  const cutOff = '{"message":{ $.message.event = "list_cut_off" }}';

  /** A service whose lists fail while they are denied; one that has begun ends like this. */
  async function check(
    end: "cut off" | "whole",
    denialWorks = true,
  ): Promise<{ line: string | undefined; calls: string[] }> {
    const iam = mockClient(IAMClient);
    const denied = Promise.withResolvers<void>();
    let isDenied = false;
    iam.on(PutRolePolicyCommand).callsFake(() => {
      isDenied = denialWorks;
      denied.resolve();
      return {};
    });
    iam.on(DeleteRolePolicyCommand).callsFake(() => {
      isDenied = false;
      return {};
    });
    async function* body(isWhole: boolean) {
      yield Buffer.from("[");
      await denied.promise;
      yield Buffer.from("{}");
      if (isWhole) yield Buffer.from("]");
    }
    service.fault = ({ headers }, right) => {
      if (right.status !== 200) return right;
      if (isDenied) return { ...right, status: 500, body: errorBody("internal_error"), headers: listHeadersOfErrors };
      return headers["accept-encoding"] === "identity" ? { ...right, body: body(end === "whole") } : right;
    };
    const [line] = await runCheck(lists, "fails midway", stageOf(service));
    const calls = iam.calls().map(({ args: [command] }) => command.constructor.name);
    iam.restore();
    return { line, calls };
  }
  const { Vary: _, ...listHeadersOfErrors } = listHeaders;
  const putAndDeleted = ["PutRolePolicyCommand", "DeleteRolePolicyCommand"];

  test("passes when it has no end, is logged, and the next one gets 500", async () => {
    logged(cutOff);
    const { line, calls } = await check("cut off");
    expect(line).toMatch(/^pass .*: 3 characters, then }$/);
    expect(calls).toEqual(putAndDeleted);
  });

  test.each<[string, Parameters<typeof check>, string[], RegExp]>([
    ["is whole", ["whole"], [cutOff], /^FAIL .*it was whole, with 4 characters/],
    ["keeps its permission", ["whole", false], [cutOff], /^FAIL .*it was whole/],
    ["is not logged", ["cut off"], [], /^FAIL .*no line in ListOrdersLog matches/],
  ])("fails when it %s, and gets its permission back", async (_what, args, lines, expected) => {
    logged(...lines);
    const { line, calls } = await check(...args);
    expect(line).toMatch(expected);
    expect(calls).toEqual(putAndDeleted);
  });
});

describe("the logs", () => {
  const line = '{"requestId":"1","message":{"event":"order_cancelled"}}';

  test.each<[string, string[], RegExp]>([
    ["hold no key", [line], /^pass/],
    ["hold a part of a key", [line, '"requestId":"x" Bearer pets_none_0aZ'], /^FAIL .* ListOrdersLog does/],
    ["can't be searched for parts of words", ["order_cancelled"], /^FAIL .* finds nothing at all/],
  ])("are searched for keys: they %s", async (_what, lines, expected) => {
    logged(...lines);
    expect((await runCheck(logs, "holds a key", stageOf(service)))[0]).toMatch(expected);
  });

  test.each<[string, string, RegExp]>([
    ["some of the lines", "order_cancelled", /^pass .*: 2 filters/],
    ["no line", "order_canceled", /^FAIL .*Cancelled counts 0 of 2 lines/],
    ["every line", "requestId", /^FAIL .*Cancelled counts 2 of 2 lines/],
  ])("are counted: a filter matches %s", async (_what, filterPattern, expected) => {
    logged(line, '{"requestId":"2","message":{"event":"orders_listed"}}');
    const filter = { filterName: "Cancelled", filterPattern, logGroupName: "CancelOrderLog" };
    cloudWatchLogs.on(DescribeMetricFiltersCommand).resolves({ metricFilters: [filter] });
    expect((await runCheck(logs, "metric filter", stageOf(service)))[0]).toMatch(expected);
  });
});

describe("a version that throws", () => {
  let root: string;
  const code = "export const handler = 1;\n";
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "first-hour-"));
    await mkdir(join(root, "functions"));
    for (const file of ["cancel-order.ts", "list-orders.ts"]) await writeFile(join(root, "functions", file), code);
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
  ])("is deployed and taken back, and its caller %s", async (_what, status, expected) => {
    vi.stubEnv("DEPLOYS", "0");
    let requests = 0;
    // Only the second is for the new version: an alias takes a moment.
    service.fault = (_request, right) =>
      status === 500 && requests++ > 0 ? { ...right, status, body: errorBody("internal_error") } : right;
    expect((await runCheck(startChecks(root), "CancelOrder", stageOf(service)))[0]).toMatch(expected);
    expect(await deployments()).toEqual([`bad ${deployed}`, `good ${deployed}`]);
    expect(await readFile(join(root, "functions/cancel-order.ts"), "utf8")).toBe(code);
  });

  test.each<[string, string, string[], string[], RegExp]>([
    ["is rolled back by its own alarms", "1", ["1", "1"], ["AlarmsCancelSlow"], /^pass/],
    ["is deployed all the same", "0", ["1", "1"], ["AlarmsCancelSlow"], /^FAIL .*the deployment succeeded/],
    ["stays live", "1", ["1", "2"], ["AlarmsCancelSlow"], /^FAIL .*version 1 became 2/],
    ["raises no alarm", "1", ["1", "1"], [], /^FAIL .*alarms: none/],
    ["raises the alarm of another", "1", ["1", "1"], ["AlarmsCancelSlow", "AlarmsListSlow"], /^FAIL .*AlarmsListSlow/],
  ])("in a canary %s", async (_what, exitCode, [before, after], alarms, expected) => {
    vi.stubEnv("DEPLOYS", exitCode);
    const [lambda, cloudWatch] = [mockClient(LambdaClient), mockClient(CloudWatchClient)];
    lambda.on(GetAliasCommand).resolvesOnce({ FunctionVersion: before }).resolves({ FunctionVersion: after });
    const went = (name: string, to: string) => ({ AlarmName: name, HistorySummary: `Alarm updated from OK to ${to}` });
    const history = [
      ...alarms.map((name) => went(`PetStoreOrders-no-option-${name}`, "ALARM")),
      went("Other", "ALARM"),
    ];
    cloudWatch.on(DescribeAlarmHistoryCommand).resolves({
      AlarmHistoryItems: [...history, went("PetStoreOrders-no-option-AlarmsKeysRejected", "OK")],
    });
    const [line] = await runCheck(canaryCheck(root, [noOption, everyOption]), "alarms", stageOf(service));
    lambda.restore();
    cloudWatch.restore();
    expect(line).toMatch(expected);
    const alarmed = "run deploy -- no-option --context alarms-of=every-option --require-approval never";
    expect(await deployments()).toEqual([`good ${alarmed}`, `bad ${alarmed}`, `good ${deployed}`]);
  });
});
