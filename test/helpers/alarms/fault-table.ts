import { functionList } from "../../../infra/stack/function-list.ts";
import {
  crashedAtStart,
  type Exchange,
  ended,
  forOperation,
  report,
  throttledByGateway,
  unusable,
} from "./exchanges.ts";
import {
  allTurnedAway,
  always,
  type Load,
  lambdas,
  recorded,
  requestFor,
  slowFirstPage,
  type Traffic,
  unusablePolicy,
} from "./traffic.ts";

/** The faults that occur while most requests are served, each with exactly the alarms that it raises. */
type Fault = [name: string, add: (traffic: Traffic) => Traffic, alarms: string[]];

// A canary takes a tenth of the requests: of each operation, 3 or 54 of the 600 a minute.
const canary = { cancel: { minutes: always, times: 3 }, list: { minutes: always, times: 54 } };

const requests =
  (exchange: Exchange, load: Load) =>
  (traffic: Traffic): Traffic =>
    traffic.requests(exchange, load);

export const faults: Fault[] = [
  ["nothing", (traffic) => traffic, []],
  [
    "a canary whose cancellations fail, half a percent of the traffic",
    requests(recorded.cancelFailed, canary.cancel),
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  // A list that crashes is cut off, too; it has rows of its own.
  ...lambdas
    .filter(({ operation }) => operation && !operation.streamed)
    .map(
      ({ id }): Fault => [
        `a few invocations of ${id} that crash at the start`,
        requests(ended(requestFor(id), id, crashedAtStart), canary.cancel),
        [`${id}Failing`, `${id}ServerErrors`],
      ],
    ),
  [
    "a canary whose cancellations time out",
    requests(ended(recorded.cancelled, "CancelOrder", [report("timeout")], 504), canary.cancel),
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  [
    "a canary whose sandbox fails",
    requests(ended(recorded.cancelled, "CancelOrder", [report("failure")]), canary.cancel),
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  [
    "a canary that cancels, but whose responses the gateway can't use",
    requests(unusable(recorded.cancelled), canary.cancel),
    ["CancelOrderServerErrors"],
  ],
  [
    "a canary whose lists the gateway can't use",
    requests(unusable(recorded.listed), canary.list),
    ["ListOrdersServerErrors"],
  ],
  [
    "a canary whose lists fail",
    requests(recorded.listFailed, canary.list),
    ["ListOrdersFailing", "ListOrdersServerErrors"],
  ],
  ["a canary whose lists are cut off", requests(recorded.cutOff, canary.list), ["ListsCutOff", "ListOrdersFailing"]],
  [
    "lists that run out of memory midway",
    requests(ended(recorded.listed, "ListOrders", [report("error", "Runtime.OutOfMemory")], 200), canary.list),
    ["ListsCutOff", "ListOrdersFailing"],
  ],
  ["three of thousands of lists cut off", requests(recorded.cutOff, { minutes: [1, 3, 5], times: 1 }), ["ListsCutOff"]],
  [
    "a canary of the authorizer that fails, for both operations",
    (traffic) =>
      traffic
        .requests(recorded.authorizerFailed, { minutes: always, times: 60 })
        .requests(forOperation(recorded.authorizerFailed, functionList.cancelOrder.operation), {
          minutes: always,
          times: 60,
        }),
    ["AuthorizeFailing", "AuthorizeServerErrors"],
  ],
  [
    "an authorizer whose policies the gateway can't use",
    requests(unusablePolicy, { minutes: always, times: 60 }),
    ["AuthorizeServerErrors"],
  ],
  [
    "a new authorizer that rejects good keys, or a stranger who makes up keys",
    requests(recorded.keyRejected, { minutes: always, times: 120 }),
    ["KeysRejected"],
  ],
  [
    "a canary whose cancellations fail while a stranger tries out keys",
    (traffic) =>
      traffic
        .requests(recorded.cancelFailed, canary.cancel)
        .requests(forOperation(recorded.keyMissing, functionList.cancelOrder.operation), {
          minutes: always,
          times: 1000,
        })
        .requests(throttledByGateway(recorded.cancelled), { minutes: always, times: 1000 }),
    ["CancelOrderFailing", "CancelOrderServerErrors", "RequestsThrottled"],
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
    requests(recorded.cancelled, { minutes: [2, 3, 4], times: 1, milliseconds: 2500 }),
    ["CancelSlow"],
  ],
  ["slow lists", requests(slowFirstPage, { minutes: [2, 3, 4], times: 10 }), ["ListSlow"]],
  [
    "lists that last because clients read slowly",
    requests(recorded.listed, { minutes: always, times: 100, milliseconds: 60_000 }),
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
