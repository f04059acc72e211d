import { Template } from "aws-cdk-lib/assertions";
import type { Environment } from "../../../infra/environments.ts";
import { type FunctionEntry, functionList } from "../../../infra/stack/function-list.ts";
import { ordersStack, resources } from "../synthesise.ts";
import { constructId, type MetricFilter, named, readAlarms, readFilters } from "./definitions.ts";
import { type Exchange, forOperation, recordExchanges, turnedAway, unusable } from "./exchanges.ts";
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

/** One request of each kind, as the service on this machine responded to it. */
export const recorded = await recordExchanges();
export const always = [1, 2, 3, 4, 5];

/** The alarms of an environment, and the traffic that they watch. */
export function watch(environment: Environment) {
  const template = Template.fromStack(ordersStack(environment));
  return {
    alarms: readAlarms(template),
    /** The alarms that roll back each function. */
    rollingBack: Object.fromEntries(
      resources(template, "AWS::CodeDeploy::DeploymentGroup").map(([id, group]) => {
        const { Alarms } = named(group["AlarmConfiguration"]) as { Alarms: { Name: string }[] };
        return [constructId(id).replace(/^Rollout/, ""), Alarms.map(({ Name }) => Name.replace(/^Alarms/, ""))];
      }),
    ),
    /** Five quiet minutes of 600 requests each, with everything that is harmless. */
    healthy: () =>
      new Traffic(template)
        .requests(recorded.listed, { minutes: always, times: 540 })
        .requests(recorded.cancelled, { minutes: always, times: 30 })
        .requests(recorded.rejected, { minutes: always, times: 10 })
        .requests(recorded.notFound, { minutes: always, times: 5 })
        .requests(recorded.unknownPath, { minutes: always, times: 5 })
        .requests(recorded.keyMissing, { minutes: always, times: 5 })
        .requests(recorded.keyRejected, { minutes: always, times: 5 }),
  };
}

export const slowFirstPage: Exchange = {
  ...recorded.listed,
  ran: JSON.parse(JSON.stringify(recorded.listed.ran).replace(/(?<="firstPageMilliseconds":)\d+/, "3500")),
};

export const unusablePolicy = unusable(
  { ...recorded.authorizerFailed, ran: { Authorize: [] } },
  "AUTHORIZER_CONFIGURATION_ERROR",
);

export const lambdas = Object.values<FunctionEntry>(functionList);

/** A recorded request for which a function ran, by the function's name; those of others are like a cancellation's. */
const requestOf: Record<string, Exchange> = {
  ListOrders: recorded.listed,
  CancelOrder: recorded.cancelled,
  Authorize: recorded.authorizerFailed,
};
export const requestFor = (lambda: string): Exchange => {
  const { operation } = lambdas.find(({ id }) => id === lambda) ?? {};
  const exchange = requestOf[lambda] ?? (operation && forOperation({ ...recorded.notFound, ran: {} }, operation));
  if (exchange === undefined) throw new Error(`No function ${lambda} serves requests`);
  return exchange;
};
/** Adds requests whose function Lambda turns away. */
export const allTurnedAway = (traffic: Traffic, lambda: string, load: Load): Traffic =>
  traffic.throttled(lambda, load).requests(turnedAway(requestFor(lambda)), load);
