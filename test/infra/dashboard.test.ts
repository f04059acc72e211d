import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { named } from "../helpers/alarms/definitions.ts";
import { ordersStack, resources, templates } from "../helpers/synthesise.ts";

interface Widget {
  type: string;
  properties: { title: string; metrics: [...string[], { expression?: string; stat?: string }][]; period: number };
}

const shown = resources(
  Template.fromStack(ordersStack({ ...environments.production, dashboard: true })),
  "AWS::CloudWatch::Dashboard",
).map(([, properties]) => named(properties) as { DashboardName: string; DashboardBody: string });

const widgets: Widget[] = JSON.parse(shown[0]?.DashboardBody ?? "{}").widgets;

/** The lines of each graph, by its title. */
const graphs = Object.fromEntries(
  widgets.map(({ properties: { title, metrics } }) => [
    title,
    metrics.map((metric) => {
      const [options] = metric.filter((part) => typeof part === "object");
      return options?.expression ?? [...metric.filter((part) => typeof part === "string"), options?.stat].join(" ");
    }),
  ]),
);

const byVersion = (lambda: string, metric: string, statistic: string) =>
  `SEARCH('{AWS/Lambda,ExecutedVersion,FunctionName,Resource} MetricName="${metric}" FunctionName="${lambda}"', '${statistic}', 60)`;
const functions = Object.values<FunctionEntry>(functionList);
const lambdas = functions.map(({ id }) => id);
const tables = { orders: "Orders", apiKeys: "ApiKeys" };
const own = "PetStoreOrders/production";
const stage = "ApiName PetStoreOrders-production Stage v1";

describe("the dashboard", () => {
  test.each(templates)("%s has none unless its record asks for one", (_name, template) => {
    template.resourceCountIs("AWS::CloudWatch::Dashboard", 0);
  });

  test("is one, named after the stack", () => {
    expect(shown.map(({ DashboardName }) => DashboardName)).toEqual(["PetStoreOrders-production"]);
  });

  test("shows every minute: a canary takes ten", () => {
    expect(new Set(widgets.map(({ properties: { period } }) => period))).toEqual(new Set([60]));
  });

  // An alarm counts requests by this name, too.
  test.each(templates)("finds the gateway's metrics of %s by the API's name", (_name, template, { stackName }) => {
    template.hasResourceProperties("AWS::ApiGateway::RestApi", { Name: stackName });
  });

  test("shows requests, outcomes, rejections by code, latencies, throttling, and a canary's two versions", () => {
    expect(graphs).toEqual({
      Requests: ["Count", "4XXError", "5XXError"].map((name) => `AWS/ApiGateway ${name} ${stage} Sum`),
      Outcomes: ["OrdersListed", "OrdersCancelled", "ListsCutOff"].map((name) => `${own} ${name} Sum`),
      "Rejected, by code": [
        `SEARCH('{${own},Code} MetricName="CancelsRejected"', 'Sum', 60)`,
        `${own} KeysRejected Sum`,
      ],
      "Slowest 1 %, ms": [
        "AWS/Lambda Duration FunctionName CancelOrder Resource CancelOrder:live p99",
        `${own} ListFirstPage p99`,
        "AWS/Lambda Duration FunctionName Authorize Resource Authorize:live p99",
      ],
      Throttled: [
        ...lambdas.map((lambda) => `AWS/Lambda Throttles FunctionName ${lambda} Sum`),
        ...functions.map(
          ({ permission: { action, table } }) =>
            `AWS/DynamoDB ThrottledRequests Operation ${action.replace("dynamodb:", "")} TableName ${tables[table]} Sum`,
        ),
      ],
      ...Object.fromEntries(
        lambdas.flatMap((lambda) => [
          [`${lambda} by version: Invocations`, [byVersion(lambda, "Invocations", "Sum")]],
          [`${lambda} by version: Errors`, [byVersion(lambda, "Errors", "Sum")]],
          [`${lambda} by version: Duration`, [byVersion(lambda, "Duration", "p99")]],
        ]),
      ),
    });
  });
});
