import { MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";
import type { FailureShare } from "../environments.ts";
import type { ServiceFunction } from "./service-function.ts";

/** Invocations through the alias: both versions during a canary, but not an operator's trial of the function. */
export function invocations(lambda: ServiceFunction): Metric {
  return sum("AWS/Lambda", "Invocations", ofAlias(lambda));
}

/** The 99th percentile, in milliseconds. */
export function duration(lambda: ServiceFunction): Metric {
  return sum("AWS/Lambda", "Duration", ofAlias(lambda)).with({ statistic: Stats.p(99) });
}

/** Invocations that Lambda turned away for lack of concurrency. */
export function throttles({ functionName }: ServiceFunction): Metric {
  return sum("AWS/Lambda", "Throttles", { FunctionName: functionName });
}

/** Throttled requests of the function's one operation on its table: DynamoDB counts by table and operation only. */
export function throttledTableRequests({ entry, table }: ServiceFunction): Metric {
  const Operation = entry.permission.action.replace("dynamodb:", "");
  return sum("AWS/DynamoDB", "ThrottledRequests", { TableName: table.tableName, Operation });
}

/** A metric that AWS emits anyway, added up. */
export function sum(namespace: string, metricName: string, dimensionsMap: Record<string, string>): Metric {
  return new Metric({ namespace, metricName, dimensionsMap, statistic: Stats.SUM });
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

function ofAlias({ functionName, live: { aliasName } }: ServiceFunction) {
  return { FunctionName: functionName, Resource: `${functionName}:${aliasName}` };
}
