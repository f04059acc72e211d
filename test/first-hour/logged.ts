import {
  CloudWatchLogsClient,
  FilterLogEventsCommand,
  TestMetricFilterCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { type AwsClientStub, mockClient } from "aws-sdk-client-mock";
import { onTestFinished } from "vitest";

/** CloudWatch's logs, without any, until the test ends. */
export function mockLogs(): AwsClientStub<CloudWatchLogsClient> {
  const cloudWatchLogs = mockClient(CloudWatchLogsClient);
  onTestFinished(() => cloudWatchLogs.restore());
  return cloudWatchLogs;
}

/**
 * Gives every log these lines, until the test ends. Patterns between % are regular expressions; any
 * other one finds the lines with its text.
 */
export function logged(...messages: string[]): AwsClientStub<CloudWatchLogsClient> {
  const cloudWatchLogs = mockLogs();
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
  return cloudWatchLogs;
}
