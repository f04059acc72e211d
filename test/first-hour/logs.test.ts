import {
  DescribeMetricFiltersCommand,
  FilterLogEventsCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { describe, expect, test } from "vitest";
import { logChecks } from "../../infra/first-hour/logs.ts";
import { contextOf, runCheck } from "./check-context.ts";
import { logged, mockLogs } from "./logged.ts";

const service = { baseUrl: "", apiKey: "" };

const line = '{"requestId":"1","message":{"event":"order_cancelled"}}';

describe("the check that no log holds a key", () => {
  test.each<[title: string, lines: string[], expected: RegExp]>([
    ["passes when no log does", [line], /^pass/],
    [
      "fails when a log holds a part of a key",
      [line, '"requestId":"x" Bearer pets_none_0aZ'],
      /^FAIL .* ListOrdersLog does/,
    ],
  ])("%s", async (_title, lines, expected) => {
    logged(...lines);
    const [result] = await runCheck(logChecks, "holds a key", contextOf(service));
    expect(result).toMatch(expected);
  });

  test("fails when its search finds whole words only", async () => {
    mockLogs()
      .on(FilterLogEventsCommand)
      .callsFake(({ filterPattern }) => {
        return { events: filterPattern?.startsWith("%") ? [] : [{ message: line }] };
      });
    const [result] = await runCheck(logChecks, "holds a key", contextOf(service));
    expect(result).toMatch(/^FAIL .* finds nothing at all/);
  });

  test("fails when its search can't read the gateway's own log", async () => {
    mockLogs()
      .on(FilterLogEventsCommand)
      .callsFake(({ filterPattern = "", logGroupName }) => {
        const isFound = filterPattern === "" || logGroupName !== "ApiExecutionLog";
        const isKey = filterPattern.includes("pets_");
        return { events: isFound && !isKey ? [{ message: line }] : [] };
      });
    const [result] = await runCheck(logChecks, "holds a key", contextOf(service));
    expect(result).toMatch(/^FAIL .* finds nothing at all in ApiExecutionLog/);
  });
});

describe("the check of metric filters", () => {
  test.each<[title: string, filterPattern: string, expected: RegExp]>([
    ["passes when they match some of the lines", "order_cancelled", /^pass .*: 2 filters/],
    ["fails when one matches no line", "order_canceled", /^FAIL .*Cancelled counts 0 of 2 lines/],
    ["fails when one matches every line", "requestId", /^FAIL .*Cancelled counts 2 of 2 lines/],
  ])("%s", async (_title, filterPattern, expected) => {
    const cloudWatchLogs = logged(line, '{"requestId":"2","message":{"event":"orders_listed"}}');
    const filter = { filterName: "Cancelled", filterPattern, logGroupName: "CancelOrderLog" };
    cloudWatchLogs.on(DescribeMetricFiltersCommand).resolves({ metricFilters: [filter] });
    const [result] = await runCheck(logChecks, "metric filter", contextOf(service));
    expect(result).toMatch(expected);
  });
});
