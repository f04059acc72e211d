import { runInThisContext } from "node:vm";
import { Template } from "aws-cdk-lib/assertions";
import {
  Alarm,
  type CfnAlarm,
  type IMetric,
  MathExpression,
  Metric,
} from "aws-cdk-lib/aws-cloudwatch";
import type { OrdersStack } from "../../../infra/stack/orders-stack.ts";
import { named } from "../../helpers/named.ts";
import { firstOf, rows } from "../../helpers/synthesise.ts";
import type { Exchange } from "./exchanges.ts";
import { evaluate, type Series } from "./metric-math.ts";

/** A metric, like `AWS/Lambda Throttles [FunctionName=CancelOrder]`, and its value. */
export type Sample = [metric: string, value: number];

export function metricName(
  namespace: string,
  name: string,
  dimensions: object = {},
): string {
  const pairs = Object.entries(dimensions).map(([key, value]) => `${key}=${value}`);
  return `${namespace} ${name} [${pairs.sort()}]`;
}

/** Kinds of requests: the samples that one adds, and how many are made a minute. */
export type Traffic = [samples: Sample[], perMinute: number][];

/** Each began this many minutes ago, and ended so many minutes ago, unless it still goes on. */
export type History = [traffic: Traffic, since: number, until?: number][];

export function watch(stack: OrdersStack) {
  const template = Template.fromStack(stack);
  const filters = rows(template, "AWS::Logs::MetricFilter");
  const api = firstOf(template, "AWS::ApiGateway::RestApi");
  const stage = firstOf(template, "AWS::ApiGateway::Stage");
  const ofStage = { ApiName: api.Name, Stage: stage.StageName };

  /** A request adds this to the metrics of the gateway, of Lambda and of its log lines. */
  function published(exchange: Exchange): Sample[] {
    const { lambda, lines, milliseconds = 20, status } = exchange;
    const context: Record<string, string | undefined> = {
      "$context.httpMethod": exchange.method,
      "$context.resourcePath": exchange.path,
      "$context.status": String(status),
      "$context.error.responseType": exchange.responseType,
    };
    const accessLogLine: string = stage.AccessLogSetting.Format.replaceAll(
      /\$[\w.]+/g,
      (name: string) => context[name] ?? "-",
    );
    const alias = { FunctionName: lambda, Resource: `${lambda}:live` };
    const ofFunction: Sample[] = [
      [metricName("AWS/Lambda", "Invocations", alias), 1],
      [metricName("AWS/Lambda", "Duration", alias), milliseconds],
      ...lines.flatMap((line) => counted(filters, `${lambda}Log`, line)),
    ];
    return [
      [metricName("AWS/ApiGateway", "Count", ofStage), 1],
      [metricName("AWS/ApiGateway", "5XXError", ofStage), status >= 500 ? 1 : 0],
      ...counted(filters, "ApiAccessLog", JSON.parse(accessLogLine)),
      ...(lambda === undefined ? [] : ofFunction),
    ];
  }

  /** The values of a metric in its last periods. */
  function seriesOf(metric: IMetric, history: History, periods: number): Series {
    if (metric instanceof MathExpression) {
      const inputs = Object.entries(metric.usingMetrics).map(([name, input]) => [
        name,
        seriesOf(input, history, periods),
      ]);
      return evaluate(metric.expression, Object.fromEntries(inputs));
    }
    if (!(metric instanceof Metric)) throw new Error(`Not supported here: ${metric}`);
    const name = metricName(
      metric.namespace,
      metric.metricName,
      Object(named(stack.resolve(metric.dimensions))),
    );
    const minutes = metric.period.toMinutes();
    return Array.from({ length: periods }, (_, index) => {
      const end = minutes * (periods - 1 - index);
      const values = history.flatMap(([traffic, since, until = 0]) => {
        const lasted = Math.min(since, end + minutes) - Math.max(until, end);
        return traffic.flatMap(([samples, perMinute]) =>
          samples
            .filter(([sampled]) => lasted > 0 && sampled === name)
            .map(([, value]) => ({ value, times: perMinute * lasted })),
        );
      });
      if (values.length === 0) return undefined;
      if (metric.statistic === "Sum")
        return sum(values.map(({ value, times }) => value * times));
      if (metric.statistic === "p99") return p99(values);
      throw new Error(`Not supported here: the statistic ${metric.statistic}`);
    });
  }

  const alarms = stack.node.findAll().filter((construct) => construct instanceof Alarm);
  return {
    alarms: alarms.map(({ node }) => node.id),
    published,
    /** The names of the alarms that are on after this history. */
    raised: (...history: History): string[] => {
      const on = alarms.filter(({ metric, node }) => {
        const alarm = node.defaultChild as CfnAlarm;
        const { evaluationPeriods = 1, threshold = Number.NaN } = alarm;
        if (alarm.comparisonOperator !== "GreaterThanOrEqualToThreshold")
          throw new Error(`Not supported here: ${node.id}`);
        // As in the user guide's example. It says no more than that some are added.
        return isOn(seriesOf(metric, history, evaluationPeriods + 2), threshold, alarm);
      });
      return on.map(({ node }) => node.id).sort();
    },
  };
}

/** Whether an alarm is on after these periods (CloudWatch user guide, "Evaluating an alarm"). */
export function isOn(
  series: Series,
  threshold: number,
  {
    datapointsToAlarm,
    evaluationPeriods = 1,
    treatMissingData = "missing",
  }: Partial<CfnAlarm>,
): boolean {
  const missing = { breaching: [threshold], notBreaching: [] }[treatMissingData];
  if (!missing) throw new Error(`Not supported here: ${treatMissingData}`);
  const known = series.filter((value) => value !== undefined).slice(-evaluationPeriods);
  const filled = Array(evaluationPeriods - known.length)
    .fill(missing)
    .flat();
  const breaching = [...known, ...filled].filter((value) => value >= threshold);
  return breaching.length >= (datapointsToAlarm ?? evaluationPeriods);
}

/** The largest value that more than one percent of the samples reach. */
function p99(values: { value: number; times: number }[]): number {
  let left = sum(values.map(({ times }) => times)) / 100;
  for (const { value, times } of values.toSorted((a, b) => b.value - a.value)) {
    left -= times;
    if (left < 0) return value;
  }
  return Number.NaN;
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The values that a line of a log adds to the metrics of a template's filters. */
function counted(filters: ReturnType<typeof rows>, log: string, line: unknown): Sample[] {
  return filters
    .filter(([, { LogGroupName }]) => LogGroupName === log)
    .filter(([, { FilterPattern }]) => matches(FilterPattern, line))
    .map(([, { MetricTransformations }]) => {
      const [{ Dimensions = [], MetricName, MetricNamespace, MetricValue }] =
        MetricTransformations;
      const dimensions: Record<string, unknown> = {};
      for (const { Key, Value } of Dimensions) dimensions[Key] = select(line, Value);
      const isSelector = MetricValue.startsWith("$");
      const value = isSelector ? select(line, MetricValue) : MetricValue;
      return [metricName(MetricNamespace, MetricName, dimensions), Number(value)];
    });
}

/** The field of a log line that a selector like `$.message.event` names. */
function select(line: unknown, selector: string): unknown {
  const names = selector.split(".").slice(1);
  return names.reduce((value, name) => Object(value)[name], line);
}

/** Whether a log line matches CloudWatch's filter pattern. */
function matches(pattern: string, line: unknown): boolean {
  const conditions = /^\{ (.*) \}$/.exec(pattern)?.[1];
  const decided = conditions?.replaceAll(
    /(\$[\w.]+) (=|!=|>=) ("[^"]*"|\d+)/g,
    (_, selector: string, operator: string, literal: string) =>
      String(compare(select(line, selector), operator, String(JSON.parse(literal)))),
  );
  if (decided === undefined || !/^(?:true|false|&&|\|\||[ ()])+$/.test(decided))
    throw new Error(`Not supported here: ${pattern}`);
  return runInThisContext(decided);
}

function compare(value: unknown, operator: string, literal: string): boolean {
  if (operator === ">=") return typeof value === "number" && value >= Number(literal);
  const isEqual = literal.endsWith("*")
    ? String(value).startsWith(literal.slice(0, -1))
    : String(value) === literal;
  return isEqual === (operator === "=");
}
