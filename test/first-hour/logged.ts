import {
  CloudWatchLogsClient,
  FilterLogEventsCommand,
  TestMetricFilterCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { type AwsClientStub, mockClient } from "aws-sdk-client-mock";
import { onTestFinished } from "vitest";

/** A mock of CloudWatch Logs, until the test ends. */
export function mockLogs(): AwsClientStub<CloudWatchLogsClient> {
  const cloudWatchLogs = mockClient(CloudWatchLogsClient);
  onTestFinished(() => cloudWatchLogs.restore());
  return cloudWatchLogs;
}

/**
 * Mocks CloudWatch Logs so that every log has these lines. A pattern between % is a regular
 * expression; any other finds the lines that contain it.
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
