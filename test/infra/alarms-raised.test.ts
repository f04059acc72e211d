import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { type Environment, environments } from "../../infra/environments.ts";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { readAlarms } from "../helpers/alarms/definitions.ts";
import { type Exchange, recordExchanges } from "../helpers/alarms/exchanges.ts";
import { raised } from "../helpers/alarms/raised.ts";
import { Traffic } from "../helpers/alarms/traffic.ts";
import { ordersStack } from "../helpers/synthesise.ts";

const recorded = await recordExchanges();
const always = [1, 2, 3, 4, 5];

function watch(environment: Environment) {
  const template = Template.fromStack(ordersStack(environment));
  return {
    alarms: readAlarms(template),
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

// Lambda's own lines, which only Lambda writes (Lambda developer guide, "Telemetry API event schema").
const platform = (type: string, record: object) => ({ time: "2026-11-21T12:00:00.000Z", type, record });
const report = (status: string, errorType?: string) =>
  platform("platform.report", { requestId: "1", metrics: { durationMs: 20 }, status, errorType });

/** A copy of a request whose function Lambda ended: nothing but these lines was logged. */
const ended = (exchange: Exchange, lambda: string, lines: unknown[], status = 500): Exchange => ({
  status,
  context: { ...exchange.context, "$context.status": String(status) },
  ran: { [lambda]: lines },
});
/** A copy of a request whose function Lambda turned away. */
const turnedAway = (exchange: Exchange): Exchange => ({
  status: 500,
  context: { ...exchange.context, "$context.status": "500" },
  ran: {},
});

const crashedAtStart = [
  platform("platform.initReport", { phase: "init", status: "error", errorType: "Runtime.ExitError" }),
  platform("platform.initReport", { phase: "invoke", status: "error", errorType: "Runtime.ExitError" }),
  report("error", "Runtime.ExitError"),
];
const slowFirstPage: Exchange = {
  ...recorded.listed,
  ran: JSON.parse(JSON.stringify(recorded.listed.ran).replace(/(?<="firstPageMilliseconds":)\d+/, "3500")),
};

type Fault = [name: string, add: (traffic: Traffic) => Traffic, alarms: string[]];

// A canary takes a tenth of the requests: of each operation, 3 or 54 of the 600 a minute.
const canary = { cancel: { minutes: always, times: 3 }, list: { minutes: always, times: 54 } };

const lambdas = Object.values<FunctionEntry>(functionList);

const faults: Fault[] = [
  ["nothing", (traffic) => traffic, []],
  [
    "a canary whose cancellations fail, half a percent of the traffic",
    (traffic) => traffic.requests(recorded.cancelFailed, canary.cancel),
    ["CancelOrderFailing"],
  ],
  // A list that crashes is cut off, too; it has rows of its own.
  ...lambdas
    .filter(({ operation }) => operation && !operation.streamed)
    .map(
      ({ id }): Fault => [
        `a few invocations of ${id} that crash at the start`,
        (traffic) => traffic.requests(ended(recorded.cancelled, id, crashedAtStart), canary.cancel),
        [`${id}Failing`],
      ],
    ),
  [
    "a canary whose cancellations time out",
    (traffic) => traffic.requests(ended(recorded.cancelled, "CancelOrder", [report("timeout")], 504), canary.cancel),
    ["CancelOrderFailing"],
  ],
  [
    "a canary whose sandbox fails",
    (traffic) => traffic.requests(ended(recorded.cancelled, "CancelOrder", [report("failure")]), canary.cancel),
    ["CancelOrderFailing"],
  ],
  [
    "a canary whose lists fail",
    (traffic) => traffic.requests(recorded.listFailed, canary.list),
    ["ServerErrors", "ListOrdersFailing"],
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
    "a canary of the authorizer that fails",
    (traffic) => traffic.requests(recorded.authorizerFailed, { minutes: always, times: 60 }),
    ["ServerErrors", "AuthorizerFailures", "AuthorizeFailing"],
  ],
  [
    "an authorizer whose policies the gateway can't use",
    (traffic) => {
      const { context } = recorded.authorizerFailed;
      const unusable = { ...context, "$context.error.responseType": "AUTHORIZER_CONFIGURATION_ERROR" };
      return traffic.requests(
        { ...recorded.authorizerFailed, context: unusable, ran: { Authorize: [] } },
        { minutes: always, times: 60 },
      );
    },
    ["ServerErrors", "AuthorizerFailures"],
  ],
  [
    "a new authorizer that rejects good keys, or a stranger who makes up keys",
    (traffic) => traffic.requests(recorded.keyRejected, { minutes: always, times: 120 }),
    ["KeysRejected"],
  ],
  [
    "a table of orders that can't be reached",
    (traffic) =>
      traffic
        .requests(recorded.listFailed, { minutes: always, times: 540 })
        .requests(recorded.cancelFailed, { minutes: always, times: 60 }),
    ["ServerErrors", "ListOrdersFailing", "CancelOrderFailing"],
  ],
  [
    "one bad minute",
    (traffic) =>
      traffic
        .requests(recorded.unknownPath, { minutes: always, times: 1 })
        .requests(turnedAway(recorded.listed), { minutes: [3], times: 540 }),
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
  ...lambdas
    .filter(({ operation }) => operation)
    .map(
      ({ id: lambda }): Fault => [
        `no concurrency left for ${lambda}`,
        (traffic) =>
          traffic
            .throttled(lambda, { minutes: always, times: 60 })
            .requests(turnedAway(recorded.listed), { minutes: always, times: 60 }),
        ["ServerErrors", `${lambda}Throttled`],
      ],
    ),
  [
    "no concurrency left for Authorize",
    (traffic) =>
      traffic
        .throttled("Authorize", { minutes: always, times: 60 })
        .requests(turnedAway(recorded.authorizerFailed), { minutes: always, times: 60 }),
    ["ServerErrors", "AuthorizerFailures", "AuthorizeThrottled"],
  ],
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

describe("with a limit on lists", () => {
  const tooManyLists = () =>
    limited
      .healthy()
      .throttled("ListOrders", { minutes: always, times: 300 })
      .requests(turnedAway(recorded.listed), { minutes: always, times: 300 });

  test("lists that Lambda turns away raise nothing", () => {
    expect(raised(limited.alarms, tooManyLists().samples, 5)).toEqual([]);
  });

  test("other failures beside them still do, and so they do while no list is turned away", () => {
    const failing = { minutes: always, times: 100 };
    const expected = ["ServerErrors", "CancelOrderFailing"];
    expect(raised(limited.alarms, tooManyLists().requests(recorded.cancelFailed, failing).samples, 5)).toEqual(
      expected,
    );
    expect(raised(limited.alarms, limited.healthy().requests(recorded.cancelFailed, failing).samples, 5)).toEqual(
      expected,
    );
  });
});
