import { MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { FailureShare } from "../environments.ts";
import type { ServiceFunction } from "./service-function.ts";

/** Invocations through the alias: both versions during a canary, but not an operator's trial of the function. */
export function invocations(lambda: ServiceFunction): Metric {
  return new Metric({ ...ofAlias(lambda, "Invocations"), statistic: Stats.SUM });
}

/** The 99th percentile, in milliseconds. */
export function duration(lambda: ServiceFunction): Metric {
  return new Metric({ ...ofAlias(lambda, "Duration"), statistic: Stats.p(99) });
}

/** Invocations that Lambda turned away for lack of concurrency. */
export function throttles({ functionName }: ServiceFunction): Metric {
  return new Metric({
    namespace: "AWS/Lambda",
    metricName: "Throttles",
    dimensionsMap: { FunctionName: functionName },
    statistic: Stats.SUM,
  });
}

/** Throttled requests of the function's one operation on its table: DynamoDB counts by table and operation only. */
export function throttledTableRequests({ entry, table }: ServiceFunction): Metric {
  return new Metric({
    namespace: "AWS/DynamoDB",
    metricName: "ThrottledRequests",
    dimensionsMap: { TableName: table.tableName, Operation: entry.permission.action.replace("dynamodb:", "") },
    statistic: Stats.SUM,
  });
}

/** Failures as a percentage of a total, or 0 while they are too few to mean anything; 100 % and more if it is missing. */
export function percentage(
  { atLeast }: FailureShare,
  usingMetrics: { failed: Metric | MathExpression; total: Metric },
): MathExpression {
  return new MathExpression({
    expression: `IF(failed >= ${atLeast}, 100 * failed / FILL(total, 1), 0)`,
    usingMetrics,
    label: "percent",
  });
}

function ofAlias({ functionName, live: { aliasName } }: ServiceFunction, metricName: string) {
  const dimensionsMap = { FunctionName: functionName, Resource: `${functionName}:${aliasName}` };
  return { namespace: "AWS/Lambda", metricName, dimensionsMap };
}
