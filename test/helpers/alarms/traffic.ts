import type { Template } from "aws-cdk-lib/assertions";
import type { FunctionEntry } from "../../../infra/stack/function-list.ts";
import { type MetricFilter, readFilters } from "./definitions.ts";
import type { Exchange } from "./exchanges.ts";
import { counted } from "./filter-pattern.ts";
import type { Sample } from "./raised.ts";

/** How an exchange repeats. */
export interface Load {
  /** The minutes in which it happens, from 1. */
  minutes: number[];
  /** How often in each. */
  times: number;
  /** How long its functions run, 20 ms unless given. */
  milliseconds?: number;
}

const tables = { orders: "Orders", apiKeys: "ApiKeys" };

/** Five minutes of requests, and the metrics that CloudWatch receives of them. */
export class Traffic {
  readonly samples: Sample[] = [];
  readonly #filters: MetricFilter[];
  readonly #accessLogFormat: string;
  readonly #stage: string;

  constructor(template: Template) {
    this.#filters = readFilters(template.toJSON());
    const [api] = Object.values(template.findResources("AWS::ApiGateway::RestApi"));
    const [stage] = Object.values(template.findResources("AWS::ApiGateway::Stage"));
    this.#accessLogFormat = stage?.["Properties"].AccessLogSetting.Format;
    this.#stage = `ApiName=${api?.["Properties"].Name},Stage=${stage?.["Properties"].StageName}`;
  }

  /** Adds requests like one that was recorded: its log lines, and the metrics of the gateway and Lambda. */
  requests({ context, ran, status }: Exchange, { minutes, times, milliseconds = 20 }: Load): this {
    const accessLogLine = this.#accessLogFormat.replaceAll(/\$[\w.]+/g, (name) => context[name] ?? "-");
    const published: [metric: string, value: number][] = [
      [`AWS/ApiGateway Count [${this.#stage}]`, 1],
      [`AWS/ApiGateway 5XXError [${this.#stage}]`, status >= 500 ? 1 : 0],
      ...this.#counted("ApiAccessLog", JSON.parse(accessLogLine)),
    ];
    for (const [lambda, lines] of Object.entries(ran)) {
      const alias = `[FunctionName=${lambda},Resource=${lambda}:live]`;
      published.push([`AWS/Lambda Invocations ${alias}`, 1], [`AWS/Lambda Duration ${alias}`, milliseconds]);
      for (const line of lines) published.push(...this.#counted(`${lambda}Log`, line));
    }
    for (const minute of minutes) {
      for (let request = 0; request < times; request += 1) {
        for (const [metric, value] of published) this.#add(minute, metric, value);
      }
    }
    return this;
  }

  /** Adds invocations that Lambda turned away. */
  throttled(lambda: string, { minutes, times }: Load): this {
    for (const minute of minutes) this.#add(minute, `AWS/Lambda Throttles [FunctionName=${lambda}]`, times);
    return this;
  }

  /** Adds requests of a function to its table that DynamoDB throttled, whatever became of the retries. */
  tableThrottled({ permission: { action, table } }: FunctionEntry, { minutes, times }: Load): this {
    const dimensions = `Operation=${action.replace("dynamodb:", "")},TableName=${tables[table]}`;
    for (const minute of minutes) this.#add(minute, `AWS/DynamoDB ThrottledRequests [${dimensions}]`, times);
    return this;
  }

  #counted(logGroup: string, line: unknown): [metric: string, value: number][] {
    return counted(
      this.#filters.filter((filter) => filter.logGroup === logGroup),
      line,
    );
  }

  #add(minute: number, metric: string, value: number): void {
    this.samples.push({ metric, minute, value });
  }
}
