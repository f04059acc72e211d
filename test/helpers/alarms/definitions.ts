import type { Template } from "aws-cdk-lib/assertions";

/** An alarm as its template defines it, on one metric or on an expression of several. */
export interface Alarm {
  name: string;
  /** By the names that expressions use: a metric, or an expression of others. */
  inputs: Map<string, AlarmMetric | string>;
  /** The name of the input that is compared with the threshold. */
  watched: string;
  operator: string;
  threshold: number;
  evaluationPeriods: number;
  datapointsToAlarm: number;
}

export interface AlarmMetric {
  /** Like `AWS/Lambda Throttles [FunctionName=CancelOrder]`. */
  metric: string;
  /** Like `Sum` or `p99`. */
  statistic: string;
  /** Seconds. */
  period: number;
}

/** A metric filter as its template defines it. */
export interface MetricFilter {
  logGroup: string;
  pattern: string;
  namespace: string;
  name: string;
  /** A number, or a selector of one in the line. */
  value: string;
  /** By name, the selectors of their values in the line. */
  dimensions: Record<string, string>;
}

/** The alarms of a template. Resources in them are named by their construct ids, like `CancelOrder`. */
export function readAlarms(template: Template): Alarm[] {
  return Object.entries(template.findResources("AWS::CloudWatch::Alarm")).map(([id, { Properties }]) => {
    const { Metrics, ...properties } = named(Properties) as AlarmProperties;
    const { ExtendedStatistic, Statistic = ExtendedStatistic ?? "none", Period = Number.NaN } = properties;
    const inputs = Metrics?.map(({ Id, Expression, MetricStat }): [string, AlarmMetric | string] => {
      if (MetricStat === undefined) return [Id, Expression ?? "nothing"];
      return [Id, { metric: metricKey(MetricStat.Metric), statistic: MetricStat.Stat, period: MetricStat.Period }];
    });
    return {
      name: constructId(id).replace(/^Alarms/, ""),
      inputs: new Map(inputs ?? [["m", { metric: metricKey(properties), statistic: Statistic, period: Period }]]),
      watched: Metrics?.find(({ ReturnData }) => ReturnData !== false)?.Id ?? "m",
      operator: properties.ComparisonOperator,
      threshold: properties.Threshold,
      evaluationPeriods: properties.EvaluationPeriods,
      datapointsToAlarm: properties.DatapointsToAlarm ?? properties.EvaluationPeriods,
    };
  });
}

/** The metric filters of a template's JSON. Log groups in them are named by their construct ids. */
export function readFilters({ Resources }: { Resources?: Record<string, FilterResource> }): MetricFilter[] {
  const filters = Object.values(Resources ?? {}).filter(({ Type }) => Type === "AWS::Logs::MetricFilter");
  return filters.map(({ Properties }) => {
    const { FilterPattern, LogGroupName, MetricTransformations } = named(Properties) as FilterProperties;
    const [{ MetricNamespace, MetricName, MetricValue, Dimensions = [] }] = MetricTransformations;
    return {
      logGroup: LogGroupName,
      pattern: FilterPattern,
      namespace: MetricNamespace,
      name: MetricName,
      value: MetricValue,
      dimensions: Object.fromEntries(Dimensions.map(({ Key, Value }) => [Key, Value])),
    };
  });
}

/** A part of a template with names instead of references to other resources. */
export function named(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(named);
  if (typeof part !== "object" || part === null) return part;
  const [[key, value] = ["", undefined]] = Object.entries(part);
  if (key === "Ref") return constructId(String(value));
  if (key === "Fn::GetAtt" && Array.isArray(value)) return [constructId(value[0]), ...value.slice(1)].join(".");
  if (key === "Fn::Join" && Array.isArray(value)) return (named(value[1]) as string[]).join(value[0]);
  return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, named(inner)]));
}

/** The text that identifies a metric. */
export function metricKey({ Namespace, MetricName, Dimensions = [] }: MetricProperties): string {
  return `${Namespace} ${MetricName} [${Dimensions.map(({ Name, Value }) => `${Name}=${Value}`).sort()}]`;
}

/** The id of a resource's construct. */
export function constructId(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}

export interface MetricProperties {
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: string }[];
}

interface AlarmProperties extends MetricProperties {
  Metrics?: {
    Id: string;
    Expression?: string;
    MetricStat?: { Metric: MetricProperties; Stat: string; Period: number };
    ReturnData?: boolean;
  }[];
  Statistic?: string;
  ExtendedStatistic?: string;
  Period?: number;
  ComparisonOperator: string;
  Threshold: number;
  EvaluationPeriods: number;
  DatapointsToAlarm?: number;
}

interface FilterResource {
  Type: string;
  Properties?: unknown;
}

interface FilterProperties {
  FilterPattern: string;
  LogGroupName: string;
  MetricTransformations: [
    {
      MetricNamespace: string;
      MetricName: string;
      MetricValue: string;
      Dimensions?: { Key: string; Value: string }[];
    },
  ];
}
