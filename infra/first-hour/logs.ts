import assert from "node:assert/strict";
import {
  CloudWatchLogs,
  type MetricFilter,
  paginateFilterLogEvents,
} from "@aws-sdk/client-cloudwatch-logs";
import { type Checks, eventually, idsOf } from "./run-checks.ts";

const cloudWatchLogs = new CloudWatchLogs();
const logGroupType = "AWS::Logs::LogGroup";

/** They come last: the other checks make the lines. */
export const logChecks: Checks = {
  "no log holds a key": async (context) => {
    const groups = idsOf(context, logGroupType);
    // The gateway writes nothing but its own errors there.
    const [mayBeEmpty] = idsOf(context, logGroupType, "ApiExecutionLog");
    const keyPattern = `%${context.environment.apiKeyPrefix}_[0-9A-Za-z]+%`;
    for (const group of groups) {
      const isEmpty = group === mayBeEmpty && !(await hasLine(group));
      if (!isEmpty) await eventually(context, () => assertSearchable(group));
      assert(!(await hasLine(group, keyPattern)), `${group} does`);
    }
    return `searched ${groups.join(", ")}`;
  },
  "each metric filter counts some lines of its log, and not all": async (context) => {
    const described = idsOf(context, logGroupType).map((logGroupName) =>
      cloudWatchLogs.describeMetricFilters({ logGroupName }),
    );
    const filters = (await Promise.all(described)).flatMap(
      ({ metricFilters = [] }) => metricFilters,
    );
    assert(filters.length > 0, "there is none");
    for (const filter of filters) await eventually(context, () => assertCountsSome(filter));
    return `${filters.length} filters`;
  },
};

/** Searches for part of a word, as a key may be, that any line has. */
async function assertSearchable(logGroupName: string): Promise<void> {
  const found = await hasLine(logGroupName, "%[a-z][a-z]%");
  assert(found, `the search finds nothing at all in ${logGroupName}`);
}

async function hasLine(logGroupName: string, filterPattern?: string): Promise<boolean> {
  const lines = await logLines(logGroupName, filterPattern);
  return lines.length > 0;
}

async function assertCountsSome(filter: MetricFilter): Promise<void> {
  const { filterName, filterPattern, logGroupName = "" } = filter;
  const matching = await logLines(logGroupName, filterPattern);
  const any = await logLines(logGroupName);
  const logEventMessages = [...new Set([...matching, ...any])];
  const search = { filterPattern, logEventMessages };
  const { matches = [] } = await cloudWatchLogs.testMetricFilter(search);
  const share = `${filterName} counts ${matches.length} of ${logEventMessages.length} lines`;
  assert(matches.length > 0 && matches.length < logEventMessages.length, share);
}

/**
 * The first 25 lines of a log that match a pattern. @param startTime only lines since then, in
 * milliseconds.
 */
export async function logLines(
  logGroupName: string,
  filterPattern?: string,
  startTime?: number,
): Promise<string[]> {
  const lines: string[] = [];
  const search = { logGroupName, filterPattern, startTime };
  for await (const { events = [] } of paginateFilterLogEvents({ client: cloudWatchLogs }, search)) {
    lines.push(...events.map(({ message = "" }) => message));
    if (lines.length >= 25) break;
  }
  return lines.slice(0, 25);
}
