import {
  DescribeMetricFiltersCommand,
  FilterLogEventsCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { describe, expect, test } from "vitest";
import { logs } from "../../infra/first-hour/logs.ts";
import { tinyServiceForEachTest } from "../helpers/smoke/tiny-service.ts";
import { logged, mockLogs } from "./logged.ts";
import { runCheck, stageOf } from "./stage.ts";

const service = tinyServiceForEachTest();

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
    mockLogs()
      .on(FilterLogEventsCommand)
      .callsFake(({ filterPattern }) => {
        return { events: filterPattern.startsWith("%") ? [] : [{ message: line }] };
      });
    expect((await runCheck(logs, "holds a key", stageOf(service)))[0]).toMatch(
      /^FAIL .* finds nothing at all/,
    );
  });

  test("are not called free of keys by a search that can't read the gateway's own", async () => {
    mockLogs()
      .on(FilterLogEventsCommand)
      .callsFake(({ filterPattern = "", logGroupName }) => {
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
    const cloudWatchLogs = logged(line, '{"requestId":"2","message":{"event":"orders_listed"}}');
    const filter = { filterName: "Cancelled", filterPattern, logGroupName: "CancelOrderLog" };
    cloudWatchLogs.on(DescribeMetricFiltersCommand).resolves({ metricFilters: [filter] });
    expect((await runCheck(logs, "metric filter", stageOf(service)))[0]).toMatch(expected);
  });
});
