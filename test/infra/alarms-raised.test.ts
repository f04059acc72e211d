import { expect, test } from "vitest";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { ordersStack } from "../helpers/synthesise.ts";
import { type Exchange, recordExchanges } from "./alarms/exchanges.ts";
import { metricName, type Sample } from "./alarms/metric-filters.ts";
import { type Traffic, watch } from "./alarms/raised.ts";

const { alarms, published, raised } = watch(ordersStack(everyOption));

const recorded = await recordExchanges();
const { authorizerFailed, cancelFailed, cancelled, cutOff, listFailed, listed } = recorded;
const lambdas = Object.values<FunctionEntry>(functionList);
const ofCancellations = functionList.cancelOrder.operation;

// What only AWS counts or writes is made up (Lambda developer guide, "Telemetry API event schema").
const report = (status: string, errorType?: string, type = "platform.report") => ({
  type,
  record: { status, errorType },
});
const crash = "Runtime.ExitError";
const crashedAtStart = [
  report("error", crash, "platform.initReport"),
  report("error", crash, "platform.initReport"),
  report("error", crash),
];
// Lambda also reports what a handler throws, which is not a crash.
const keyRejected = {
  ...recorded.keyRejected,
  lines: [...recorded.keyRejected.lines, report("error", "Error")],
};
const keyMissing = { ...recorded.keyMissing, ...ofCancellations };
const unusable = { status: 502, responseType: "API_CONFIGURATION_ERROR" };
const unusableList = { ...listed, ...unusable };
const unusablePolicy = {
  ...authorizerFailed,
  responseType: "AUTHORIZER_CONFIGURATION_ERROR",
  lines: [],
};
const abandoned = { ...listed, lines: [{ message: { event: "list_abandoned", orders: 1 } }] };
const slowFirstPage: Exchange = {
  ...listed,
  lines: JSON.parse(
    JSON.stringify(listed.lines).replace(/(?<="firstPageMilliseconds":)\d+/, "3500"),
  ),
};

/** A request for which Lambda turned the function away. */
function turnedAway({ id, operation }: FunctionEntry): Sample[] {
  const { lambda: _, ...request } = { ...authorizerFailed, ...operation, lines: [] };
  const responseType = operation ? undefined : request.responseType;
  const throttle: Sample = [metricName("AWS/Lambda", "Throttles", { FunctionName: id }), 1];
  return [...published({ ...request, status: 500, responseType }), throttle];
}

/** A request of a function to its table that DynamoDB throttled, whatever became of the retries. */
function tableThrottled({ permission: { action, table } }: FunctionEntry): Sample[] {
  const dimensions = {
    Operation: action.replace("dynamodb:", ""),
    TableName: { orders: "Orders", apiKeys: "ApiKeys" }[table],
  };
  return [[metricName("AWS/DynamoDB", "ThrottledRequests", dimensions), 1]];
}

/** Requests of each of these kinds, so many a minute. */
const at = (perMinute: number, ...requests: Exchange[]): Traffic =>
  requests.map((request) => [published(request), perMinute]);

/** 600 requests a minute, with everything that is harmless. */
const healthy: Traffic = [
  ...at(540, listed),
  ...at(30, cancelled),
  ...at(10, recorded.rejected),
  ...at(5, recorded.notFound, recorded.unknownPath, recorded.keyMissing, keyRejected),
];

// A canary takes a tenth of the requests, and few are cancellations.
const canary = { cancels: 3, lists: 54 };

type Fault = [name: string, traffic: Traffic];

/** The faults, each with a line for every alarm that goes off. */
const raisedIn = (faults: Fault[], usual: Traffic): string =>
  faults
    .flatMap(([name, traffic]) => [
      name,
      ...raised([...usual, ...traffic]).map((alarm) => `- ${alarm}`),
    ])
    .join("\n");

const whileServing: Fault[] = [
  ["no fault", []],
  ["canary: cancellations fail", at(canary.cancels, cancelFailed)],
  // A list that crashes is cut off, too; it has rows of its own.
  ...lambdas
    .filter(({ operation }) => operation && !operation.streamed)
    .map(({ id, operation }): Fault => {
      const crashed = { ...cancelled, ...operation, lambda: id, lines: crashedAtStart };
      return [
        `canary: ${id} crashes at the start`,
        at(canary.cancels, { ...crashed, status: 500 }),
      ];
    }),
  [
    "canary: cancellations time out",
    at(canary.cancels, { ...cancelled, status: 504, lines: [report("timeout")] }),
  ],
  [
    "canary: the sandbox of cancellations fails",
    at(canary.cancels, { ...cancelled, status: 500, lines: [report("failure")] }),
  ],
  [
    "canary: orders are cancelled, but the gateway can't use the responses",
    at(canary.cancels, { ...cancelled, ...unusable }),
  ],
  ["canary: the gateway can't use lists", at(canary.lists, unusableList)],
  ["canary: lists fail", at(canary.lists, listFailed)],
  ["canary: lists are cut off", at(canary.lists, cutOff)],
  [
    "canary: lists run out of memory midway",
    at(canary.lists, { ...listed, lines: [report("error", "Runtime.OutOfMemory")] }),
  ],
  ["three of thousands of lists are cut off", at(3 / 5, cutOff)],
  [
    "canary: the authorizer fails for both operations",
    at(60, authorizerFailed, { ...authorizerFailed, ...ofCancellations }),
  ],
  ["canary: the gateway can't use the authorizer's policies", at(60, unusablePolicy)],
  ["good keys are rejected, or a stranger makes up keys", at(120, keyRejected)],
  [
    "canary: cancellations fail while a stranger tries out keys",
    [
      ...at(canary.cancels, cancelFailed),
      ...at(1000, keyMissing, { ...keyMissing, status: 429, responseType: "THROTTLED" }),
    ],
  ],
  ["the table of orders can't be reached", [...at(540, listFailed), ...at(60, cancelFailed)]],
  ["cancellations are slow", at(1, { ...cancelled, milliseconds: 2500 })],
  ["lists are slow", at(10, slowFirstPage)],
  ["clients hang up before their lists end", at(100, abandoned)],
  ["clients read their lists slowly", at(100, { ...listed, milliseconds: 60_000 })],
  ...lambdas.flatMap((lambda): Fault[] => [
    [`${lambda.id} has no concurrency left`, [[turnedAway(lambda), 60]]],
    [`${lambda.id} is throttled by its table`, [[tableThrottled(lambda), 20]]],
  ]),
  [
    "the gateway can't use lists, and another stack has switched the access log off",
    [
      [
        published(unusableList).filter(([metric]) => !metric.startsWith("PetStoreOrders/")),
        canary.lists,
      ],
    ],
  ],
  [
    // Only the alarms of lists roll back, and no other function.
    "one key lists as fast as it can, which leaves no read units and no concurrency to anyone",
    [
      ...at(600, slowFirstPage, listFailed, cutOff),
      [tableThrottled(functionList.listOrders), 600],
      ...lambdas.map((lambda): Traffic[number] => [turnedAway(lambda), 600]),
    ],
  ],
  [
    "cancellations fail while Lambda turns lists away",
    [...at(100, cancelFailed), [turnedAway(functionList.listOrders), 300]],
  ],
];

test("a request adds to the metrics that its log lines are about", () => {
  const lines = Object.entries({ ...recorded, keyRejected, abandoned }).map(([name, exchange]) => {
    const samples = published(exchange).filter(([metric]) => metric.startsWith("PetStoreOrders/"));
    expect(samples.filter(([, value]) => Number.isNaN(value))).toEqual([]);
    const metrics = samples.map(([metric]) => metric.replace(/^\S+ | \[\]$/g, ""));
    return `${name}: ${metrics.join(", ") || "none"}`;
  });
  expect(lines.join("\n")).toMatchInlineSnapshot(`
    "authorizerFailed: AuthorizeServerErrors, AuthorizeFailed
    listed: ListOrdersResponses, OrdersListed, ListFirstPage
    cancelled: CancelOrderResponses, OrdersCancelled
    rejected: CancelOrderResponses, CancelsRejected [Code=order_already_shipped]
    repeated: CancelOrderResponses, CancelsRejected [Code=order_already_cancelled]
    notFound: CancelOrderResponses, CancelsRejected [Code=order_not_found]
    malformed: CancelOrderResponses, CancelsRejected [Code=order_not_found]
    unknownPath: none
    keyMissing: none
    keyRejected: KeysRejected
    cutOff: ListOrdersResponses, ListsCutOff, ListOrdersFailed, ListFirstPage
    listFailed: ListOrdersServerErrors, ListOrdersResponses, ListOrdersFailed
    cancelFailed: CancelOrderServerErrors, CancelOrderResponses, CancelOrderFailed
    abandoned: ListOrdersResponses"
  `);
});

test("a fault while most requests are served raises the alarms about it, and no others", () => {
  const text = raisedIn(whileServing, healthy);
  expect(text).toMatchInlineSnapshot(`
    "no fault
    canary: cancellations fail
    - CancelOrderFailing
    - CancelOrderServerErrors
    canary: CancelOrder crashes at the start
    - CancelOrderFailing
    - CancelOrderServerErrors
    canary: cancellations time out
    - CancelOrderFailing
    - CancelOrderServerErrors
    canary: the sandbox of cancellations fails
    - CancelOrderFailing
    - CancelOrderServerErrors
    canary: orders are cancelled, but the gateway can't use the responses
    - CancelOrderServerErrors
    canary: the gateway can't use lists
    - ApiServerErrors
    - ListOrdersServerErrors
    canary: lists fail
    - ApiServerErrors
    - ListOrdersFailing
    - ListOrdersServerErrors
    canary: lists are cut off
    - ListOrdersFailing
    - ListsCutOff
    canary: lists run out of memory midway
    - ListOrdersFailing
    - ListsCutOff
    three of thousands of lists are cut off
    - ListsCutOff
    canary: the authorizer fails for both operations
    - ApiServerErrors
    - AuthorizeFailing
    - AuthorizeServerErrors
    canary: the gateway can't use the authorizer's policies
    - ApiServerErrors
    - AuthorizeServerErrors
    good keys are rejected, or a stranger makes up keys
    - KeysRejected
    canary: cancellations fail while a stranger tries out keys
    - CancelOrderFailing
    - CancelOrderServerErrors
    - RequestsThrottled
    the table of orders can't be reached
    - ApiServerErrors
    - CancelOrderFailing
    - CancelOrderServerErrors
    - ListOrdersFailing
    - ListOrdersServerErrors
    cancellations are slow
    - CancelSlow
    lists are slow
    - ListSlow
    clients hang up before their lists end
    clients read their lists slowly
    ListOrders has no concurrency left
    - ApiServerErrors
    - ListOrdersThrottled
    ListOrders is throttled by its table
    - ListOrdersTableThrottled
    CancelOrder has no concurrency left
    - ApiServerErrors
    - CancelOrderThrottled
    CancelOrder is throttled by its table
    - CancelOrderTableThrottled
    Authorize has no concurrency left
    - ApiServerErrors
    - AuthorizeThrottled
    Authorize is throttled by its table
    - AuthorizeTableThrottled
    the gateway can't use lists, and another stack has switched the access log off
    - ApiServerErrors
    one key lists as fast as it can, which leaves no read units and no concurrency to anyone
    - ApiServerErrors
    - AuthorizeThrottled
    - CancelOrderThrottled
    - ListOrdersFailing
    - ListOrdersServerErrors
    - ListOrdersTableThrottled
    - ListOrdersThrottled
    - ListSlow
    - ListsCutOff
    cancellations fail while Lambda turns lists away
    - ApiServerErrors
    - CancelOrderFailing
    - CancelOrderServerErrors
    - ListOrdersThrottled"
  `);
  expect(alarms.filter((name) => !text.includes(name))).toEqual([]);
});

test("an alarm needs more than the few failures of a quiet night", () => {
  const faults: Fault[] = [
    ["no request", []],
    ["two failures in five minutes", [...at(2 / 5, cancelFailed), ...at(3, keyRejected)]],
    [
      "the gateway may not invoke the authorizer",
      at(3 / 5, { ...unusablePolicy, lambda: undefined }),
    ],
  ];
  expect(raisedIn(faults, [])).toMatchInlineSnapshot(`
    "no request
    two failures in five minutes
    the gateway may not invoke the authorizer
    - ApiServerErrors
    - AuthorizeServerErrors"
  `);
});
