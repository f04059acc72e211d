import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { type Environment, environments } from "../../infra/environments.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { constructId, named, readAlarms } from "../helpers/alarms/definitions.ts";
import { type Exchange, recordExchanges } from "../helpers/alarms/exchanges.ts";
import {
  crashedAtStart,
  ended,
  forCancelling,
  report,
  throttledByGateway,
  turnedAway,
  unusable,
} from "../helpers/alarms/mishaps.ts";
import { raised } from "../helpers/alarms/raised.ts";
import { type Load, Traffic } from "../helpers/alarms/traffic.ts";
import { ordersStack, resources } from "../helpers/synthesise.ts";

const recorded = await recordExchanges();
const always = [1, 2, 3, 4, 5];

function watch(environment: Environment) {
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

const production = watch(environments.production);
const limited = watch({ ...environments.production, listConcurrency: 20 });

const slowFirstPage: Exchange = {
  ...recorded.listed,
  ran: JSON.parse(JSON.stringify(recorded.listed.ran).replace(/(?<="firstPageMilliseconds":)\d+/, "3500")),
};

const unusablePolicy = unusable(
  { ...recorded.authorizerFailed, ran: { Authorize: [] } },
  "AUTHORIZER_CONFIGURATION_ERROR",
);

type Fault = [name: string, add: (traffic: Traffic) => Traffic, alarms: string[]];

// A canary takes a tenth of the requests: of each operation, 3 or 54 of the 600 a minute.
const canary = { cancel: { minutes: always, times: 3 }, list: { minutes: always, times: 54 } };

const lambdas = Object.values<FunctionEntry>(functionList);

/** A request for which a function ran, as far as there is one, by the function's name. */
const requestOf: Record<string, Exchange> = {
  ListOrders: recorded.listed,
  CancelOrder: recorded.cancelled,
  Authorize: recorded.authorizerFailed,
};
const requestFor = (lambda: string): Exchange => {
  const exchange = requestOf[lambda];
  if (exchange === undefined) throw new Error(`Record a request of ${lambda} in test/helpers/alarms/exchanges.ts`);
  return exchange;
};
const allTurnedAway = (traffic: Traffic, lambda: string, load: Load): Traffic =>
  traffic.throttled(lambda, load).requests(turnedAway(requestFor(lambda)), load);

const faults: Fault[] = [
  ["nothing", (traffic) => traffic, []],
  [
    "a canary whose cancellations fail, half a percent of the traffic",
    (traffic) => traffic.requests(recorded.cancelFailed, canary.cancel),
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  // A list that crashes is cut off, too; it has rows of its own.
  ...lambdas
    .filter(({ operation }) => operation && !operation.streamed)
    .map(
      ({ id }): Fault => [
        `a few invocations of ${id} that crash at the start`,
        (traffic) => traffic.requests(ended(requestFor(id), id, crashedAtStart), canary.cancel),
        [`${id}Failing`, `${id}ServerErrors`],
      ],
    ),
  [
    "a canary whose cancellations time out",
    (traffic) => traffic.requests(ended(recorded.cancelled, "CancelOrder", [report("timeout")], 504), canary.cancel),
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  [
    "a canary whose sandbox fails",
    (traffic) => traffic.requests(ended(recorded.cancelled, "CancelOrder", [report("failure")]), canary.cancel),
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  [
    "a canary that cancels, but whose responses the gateway can't use",
    (traffic) => traffic.requests(unusable(recorded.cancelled), canary.cancel),
    ["CancelOrderServerErrors"],
  ],
  [
    "a canary whose lists the gateway can't use",
    (traffic) => traffic.requests(unusable(recorded.listed), canary.list),
    ["ListOrdersServerErrors"],
  ],
  [
    "a canary whose lists fail",
    (traffic) => traffic.requests(recorded.listFailed, canary.list),
    ["ListOrdersFailing", "ListOrdersServerErrors"],
  ],
  [
    "a canary whose lists are cut off",
    (traffic) => traffic.requests(recorded.cutOff, canary.list),
    ["ListsCutOff", "ListOrdersFailing"],
  ],
  [
    "lists that run out of memory midway",
    (traffic) =>
      traffic.requests(
        ended(recorded.listed, "ListOrders", [report("error", "Runtime.OutOfMemory")], 200),
        canary.list,
      ),
    ["ListsCutOff", "ListOrdersFailing"],
  ],
  [
    "three of thousands of lists cut off",
    (traffic) => traffic.requests(recorded.cutOff, { minutes: [1, 3, 5], times: 1 }),
    ["ListsCutOff"],
  ],
  [
    "a canary of the authorizer that fails, for both operations",
    (traffic) =>
      traffic
        .requests(recorded.authorizerFailed, { minutes: always, times: 60 })
        .requests(forCancelling(recorded.authorizerFailed), { minutes: always, times: 60 }),
    ["AuthorizeFailing", "AuthorizeServerErrors"],
  ],
  [
    "an authorizer whose policies the gateway can't use",
    (traffic) => traffic.requests(unusablePolicy, { minutes: always, times: 60 }),
    ["AuthorizeServerErrors"],
  ],
  [
    "a new authorizer that rejects good keys, or a stranger who makes up keys",
    (traffic) => traffic.requests(recorded.keyRejected, { minutes: always, times: 120 }),
    ["KeysRejected"],
  ],
  [
    "a canary whose cancellations fail while a stranger tries out keys",
    (traffic) =>
      traffic
        .requests(recorded.cancelFailed, canary.cancel)
        .requests(forCancelling(recorded.keyMissing), { minutes: always, times: 1000 })
        .requests(throttledByGateway(recorded.cancelled), { minutes: always, times: 1000 }),
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  [
    "a table of orders that can't be reached",
    (traffic) =>
      traffic
        .requests(recorded.listFailed, { minutes: always, times: 540 })
        .requests(recorded.cancelFailed, { minutes: always, times: 60 }),
    ["ListOrdersFailing", "ListOrdersServerErrors", "CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  [
    "one slow minute",
    (traffic) =>
      traffic
        .requests(recorded.cancelled, { minutes: [3], times: 10, milliseconds: 2500 })
        .requests(slowFirstPage, { minutes: [3], times: 100 }),
    [],
  ],
  [
    "slow cancellations",
    (traffic) => traffic.requests(recorded.cancelled, { minutes: [2, 3, 4], times: 1, milliseconds: 2500 }),
    ["CancelSlow"],
  ],
  ["slow lists", (traffic) => traffic.requests(slowFirstPage, { minutes: [2, 3, 4], times: 10 }), ["ListSlow"]],
  [
    "lists that last because clients read slowly",
    (traffic) => traffic.requests(recorded.listed, { minutes: always, times: 100, milliseconds: 60_000 }),
    [],
  ],
  ...lambdas.map(
    ({ id }): Fault => [
      `no concurrency left for ${id}`,
      (traffic) => allTurnedAway(traffic, id, { minutes: always, times: 60 }),
      [`${id}Throttled`],
    ],
  ),
  ...lambdas.map(
    (lambda): Fault => [
      `table requests of ${lambda.id} that are throttled, but succeed when retried`,
      (traffic) => traffic.tableThrottled(lambda, { minutes: always, times: 20 }),
      [`${lambda.id}TableThrottled`],
    ],
  ),
];

describe("the alarms that go off", () => {
  test.each(faults)("during %s", (_name, add, expected) => {
    expect(raised(production.alarms, add(production.healthy()).samples, 5).sort()).toEqual(expected.sort());
  });

  test("include each alarm for some fault", () => {
    const covered = new Set(faults.flatMap(([, , alarms]) => alarms));
    expect(covered).toEqual(new Set(production.alarms.map(({ name }) => name)));
  });

  test("without any request, or with a few that fail in a quiet night: none", () => {
    const silent = production.healthy();
    silent.samples.length = 0;
    expect(raised(production.alarms, silent.samples, 5)).toEqual([]);
    silent.requests(recorded.cancelFailed, { minutes: [2, 4], times: 1 });
    silent.requests(recorded.keyRejected, { minutes: always, times: 3 });
    expect(raised(production.alarms, silent.samples, 5)).toEqual([]);
  });
});

test("an authorizer that the gateway may not even invoke raises its server errors", () => {
  const silent = production.healthy();
  silent.samples.length = 0;
  silent.requests({ ...unusablePolicy, ran: {} }, { minutes: always, times: 1 });
  expect(raised(production.alarms, silent.samples, 5)).toEqual(["AuthorizeServerErrors"]);
});

describe("one key that lists as fast as it can", () => {
  // It slows lists down, exhausts the table's read units, and leaves no concurrency to anyone.
  const flood = () => {
    const load = { minutes: always, times: 600 };
    const traffic = production
      .healthy()
      .requests(slowFirstPage, load)
      .requests(recorded.listFailed, load)
      .requests(recorded.cutOff, load)
      .tableThrottled(functionList.listOrders, load);
    for (const { id } of lambdas) allTurnedAway(traffic, id, load);
    return raised(production.alarms, traffic.samples, 5);
  };

  test("stops the rollout of lists only", () => {
    const on = new Set(flood());
    const stopped = Object.entries(production.rollingBack).filter(([, alarms]) => alarms.some((name) => on.has(name)));
    expect(stopped.map(([lambda]) => lambda)).toEqual(["ListOrders"]);
  });
});

describe("with a limit on lists", () => {
  const tooManyLists = () => allTurnedAway(limited.healthy(), "ListOrders", { minutes: always, times: 300 });

  test("lists that Lambda turns away raise nothing", () => {
    expect(raised(limited.alarms, tooManyLists().samples, 5)).toEqual([]);
  });

  test("other failures beside them still do, and so they do while no list is turned away", () => {
    const failing = { minutes: always, times: 100 };
    const expected = ["CancelOrderFailing", "CancelOrderServerErrors"];
    expect(raised(limited.alarms, tooManyLists().requests(recorded.cancelFailed, failing).samples, 5)).toEqual(
      expected,
    );
    expect(raised(limited.alarms, limited.healthy().requests(recorded.cancelFailed, failing).samples, 5)).toEqual(
      expected,
    );
  });
});
