import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CloudFormationClient,
  DescribeStacksCommand,
  type StackStatus,
} from "@aws-sdk/client-cloudformation";
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
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { canary, start } from "../../infra/first-hour/bad-versions.ts";
import { lists } from "../../infra/first-hour/lists.ts";
import { logs } from "../../infra/first-hour/logs.ts";
import { change } from "../../infra/first-hour/stage.ts";
import {
  errorResponse,
  startTinyService,
  type TinyService,
} from "../helpers/smoke/tiny-service.ts";
import { runCheck, stageOf } from "./stage.ts";

let service: TinyService;
let cloudWatchLogs: AwsClientStub<CloudWatchLogsClient>;
beforeEach(async () => {
  service = await startTinyService();
  cloudWatchLogs = mockClient(CloudWatchLogsClient);
});
afterEach(() => cloudWatchLogs.restore());

/**
 * Every log has these lines. Patterns between % are regular expressions; any other one finds the
 * lines with its text.
 */
function logged(...messages: string[]): void {
  const matches = (pattern = "", message: string): boolean =>
    /^%.*%$/.test(pattern)
      ? new RegExp(pattern.slice(1, -1)).test(message)
      : message.includes(pattern);
  cloudWatchLogs.on(FilterLogEventsCommand).callsFake(({ filterPattern }) => {
    return {
      events: messages
        .filter((message) => matches(filterPattern, message))
        .map((message) => ({ message })),
    };
  });
  cloudWatchLogs.on(TestMetricFilterCommand).callsFake(({ filterPattern, logEventMessages }) => {
    return {
      matches: logEventMessages.filter((message: string) => matches(filterPattern, message)),
    };
  });
}

describe("what a check has changed", () => {
  let seen: string[];
  beforeEach(() => {
    seen = [];
  });
  const step = (text: string) => async () => void seen.push(text);

  test("is put back when the check fails, the last change first", async () => {
    const stage = stageOf(service);
    const check = async () => {
      await change(stage, "the first", step("made 1"), step("undone 1"));
      await change(stage, "the second", step("made 2"), step("undone 2"));
      throw new Error("no such thing");
    };
    expect(await runCheck({ check }, "", stage)).toEqual(["FAIL check: no such thing"]);
    expect(seen).toEqual(["made 1", "made 2", "undone 2", "undone 1"]);
  });

  test("is named when it can't be put back, and the other checks go on", async () => {
    const stage = stageOf(service);
    const denied = async () => {
      throw new Error("access denied");
    };
    const check = async () => {
      await change(stage, "the first", step("made 1"), step("undone 1"));
      await change(stage, "the second", step("made 2"), denied);
      return "all well";
    };
    expect(await runCheck({ check, next: async () => "all well" }, "", stage)).toEqual([
      "pass check: all well",
      "FAIL could not put back the second: access denied",
      "pass next: all well",
    ]);
    expect(seen).toEqual(["made 1", "made 2", "undone 1"]);
  });

  describe("when it is interrupted meanwhile,", () => {
    const interruptedStage = () => {
      const interruption = new AbortController();
      const stage = { ...stageOf(service), interrupted: interruption.signal };
      return { stage, interruption };
    };

    test("is put back once it has been made", async () => {
      const { stage, interruption } = interruptedStage();
      const made = Promise.withResolvers<void>();
      const check = async () => {
        const make = () => made.promise.then(step("made"));
        const making = change(stage, "it", make, step("undone"));
        interruption.abort();
        setImmediate(made.resolve);
        await making;
        return "";
      };
      expect(await runCheck({ check, next: check }, "", stage)).toEqual([
        "FAIL check: interrupted",
      ]);
      expect(seen).toEqual(["made", "undone"]);
    });

    test("is followed by no other change", async () => {
      const { stage, interruption } = interruptedStage();
      interruption.abort();
      await expect(change(stage, "more", step("made"), step("undone"))).rejects.toThrow("abort");
      expect(seen).toEqual([]);
    });
  });
});

test("how long a slow list took is asked once its line had time to appear", async () => {
  const stage = stageOf(service);
  const report = (durationMs: number) => ({
    message: JSON.stringify({ record: { metrics: { durationMs } } }),
  });
  cloudWatchLogs.on(FilterLogEventsCommand).callsFake(() => ({
    events: stage.clock.now() < 30_000 ? [report(900)] : [report(900), report(61_000)],
  }));
  const [line] = await runCheck(lists, "how long", stage);
  expect(line).toMatch(/^seen .* took 61000 ms$/);
});

describe("a list that loses its permission midway", () => {
  const cutOff = '{"message":{ $.message.event = "list_cut_off" }}';

  test.each<[what: string, end: string, denialWorks: boolean, logLine: string, expected: RegExp]>([
    [
      "passes when it has no end, is logged, and the next gets 500",
      "",
      true,
      cutOff,
      /^pass .*: 3 characters, then }$/,
    ],
    ["fails when it is whole", "]", true, cutOff, /^FAIL .*it was whole, with 4 characters/],
    ["fails when it keeps its permission", "]", false, cutOff, /^FAIL .*it was whole/],
    ["fails when it is not logged", "", true, "", /^FAIL .*no line in ListOrdersLog matches/],
  ])("%s", async (_what, end, denialWorks, logLine, expected) => {
    logged(logLine);
    const iam = mockClient(IAMClient);
    onTestFinished(() => iam.restore());
    const denied = Promise.withResolvers<void>();
    let isDenied = false;
    iam.on(PutRolePolicyCommand).callsFake(() => {
      isDenied = denialWorks;
      denied.resolve();
    });
    iam.on(DeleteRolePolicyCommand).callsFake(() => {
      isDenied = false;
    });
    async function* body() {
      yield Buffer.from("[");
      await denied.promise;
      yield Buffer.from(`{}${end}`);
    }
    service.fault = ({ headers }, right) => {
      if (right.status !== 200) return right;
      if (isDenied) return errorResponse("internal_error");
      return headers["accept-encoding"] === "identity" ? { ...right, body: body() } : right;
    };
    expect(await runCheck(lists, "fails midway", stageOf(service))).toEqual([
      expect.stringMatching(expected),
    ]);
    // Whatever came of it, the function gets its permission back.
    const calls = iam.calls().map(({ args: [command] }) => command.constructor.name);
    expect(calls).toEqual(["PutRolePolicyCommand", "DeleteRolePolicyCommand"]);
  });
});

describe("the logs", () => {
  const line = '{"requestId":"1","message":{"event":"order_cancelled"}}';

  test.each<[string, string[], RegExp]>([
    ["hold no key", [line], /^pass/],
    [
      "hold a part of a key",
      [line, '"requestId":"x" Bearer pets_none_0aZ'],
      /^FAIL .* ListOrdersLog does/,
    ],
  ])("are searched for keys: they %s", async (_what, lines, expected) => {
    logged(...lines);
    expect((await runCheck(logs, "holds a key", stageOf(service)))[0]).toMatch(expected);
  });

  test("are not called free of keys by a search that knows whole words only", async () => {
    cloudWatchLogs.on(FilterLogEventsCommand).callsFake(({ filterPattern }) => {
      return { events: filterPattern.startsWith("%") ? [] : [{ message: line }] };
    });
    expect((await runCheck(logs, "holds a key", stageOf(service)))[0]).toMatch(
      /^FAIL .* finds nothing at all/,
    );
  });

  test("are not called free of keys by a search that can't read the gateway's own", async () => {
    cloudWatchLogs.on(FilterLogEventsCommand).callsFake(({ filterPattern = "", logGroupName }) => {
      const isFound = filterPattern === "" || logGroupName !== "ApiExecutionLog";
      const isKey = filterPattern.includes("pets_");
      return { events: isFound && !isKey ? [{ message: line }] : [] };
    });
    expect((await runCheck(logs, "holds a key", stageOf(service)))[0]).toMatch(
      /^FAIL .* finds nothing at all in ApiExecutionLog/,
    );
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
