import { Template } from "aws-cdk-lib/assertions";
import type { Environment } from "../../../infra/environments.ts";
import { type FunctionEntry, functionList } from "../../../infra/stack/function-list.ts";
import { ordersStack, resources } from "../synthesise.ts";
import { constructId, named, readAlarms } from "./definitions.ts";
import { type Exchange, recordExchanges } from "./exchanges.ts";
import { turnedAway, unusable } from "./mishaps.ts";
import { type Load, Traffic } from "./traffic.ts";

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

/** A request for which a function ran, as far as there is one, by the function's name. */
const requestOf: Record<string, Exchange> = {
  ListOrders: recorded.listed,
  CancelOrder: recorded.cancelled,
  Authorize: recorded.authorizerFailed,
};
export const requestFor = (lambda: string): Exchange => {
  const exchange = requestOf[lambda];
  if (exchange === undefined) throw new Error(`Record a request of ${lambda} in exchanges.ts, name it in requestOf`);
  return exchange;
};
/** Adds requests whose function Lambda turns away. */
export const allTurnedAway = (traffic: Traffic, lambda: string, load: Load): Traffic =>
  traffic.throttled(lambda, load).requests(turnedAway(requestFor(lambda)), load);
