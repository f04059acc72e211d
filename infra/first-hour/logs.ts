import assert from "node:assert/strict";
import { CloudWatchLogs, paginateFilterLogEvents } from "@aws-sdk/client-cloudwatch-logs";
import { type Checks, eventually, idsOf } from "./stage.ts";

const cloudWatchLogs = new CloudWatchLogs();
const type = "AWS::Logs::LogGroup";

/** They come last: the other checks make the lines. */
export const logs: Checks = {
  "no log holds a key": async (stage) => {
    // The gateway writes nothing but its own errors there.
    const [mayBeEmpty] = idsOf(stage, type, "ApiExecutionLog");
    for (const group of idsOf(stage, type)) {
      const finds = async (pattern?: string): Promise<boolean> =>
        (await logLines(group, pattern)).length > 0;
      // Part of a word, as a key may be, of whatever the log holds.
      const control = async () =>
        assert(await finds("%[a-z][a-z]%"), `the search finds nothing at all in ${group}`);
      if (group !== mayBeEmpty || (await finds())) await eventually(stage, control);
      assert(!(await finds(`%${stage.environment.apiKeyPrefix}_[0-9A-Za-z]+%`)), `${group} does`);
    }
    return `searched ${idsOf(stage, type).join(", ")}`;
  },
  "each metric filter counts some lines of its log, and not all": async (stage) => {
    const described = idsOf(stage, type).map((logGroupName) =>
      cloudWatchLogs.describeMetricFilters({ logGroupName }),
    );
    const filters = (await Promise.all(described)).flatMap(
      ({ metricFilters = [] }) => metricFilters,
    );
    assert(filters.length > 0, "there is none");
    for (const { filterName, filterPattern, logGroupName = "" } of filters) {
      await eventually(stage, async () => {
        const lines = [
          ...(await logLines(logGroupName, filterPattern)),
          ...(await logLines(logGroupName)),
        ];
        const logEventMessages = [...new Set(lines)];
        const { matches = [] } = await cloudWatchLogs.testMetricFilter({
          filterPattern,
          logEventMessages,
        });
        const share = `${filterName} counts ${matches.length} of ${logEventMessages.length} lines`;
        assert(matches.length > 0 && matches.length < logEventMessages.length, share);
      });
    }
    return `${filters.length} filters`;
  },
};

/** Reads the first lines of a log that match a pattern, since a time in milliseconds. */
export async function logLines(
  logGroupName: string,
  filterPattern?: string,
  startTime?: number,
): Promise<string[]> {
  const lines: string[] = [];
  const search = { logGroupName, filterPattern, startTime };
  for await (const { events } of paginateFilterLogEvents({ client: cloudWatchLogs }, search)) {
    lines.push(...(events ?? []).map(({ message = "" }) => message));
    if (lines.length >= 25) break;
  }
  return lines.slice(0, 25);
}
