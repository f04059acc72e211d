import { describe, expect, test } from "vitest";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { metricName, type Sample } from "../helpers/metric-filters.ts";
import { ordersStack } from "../helpers/synthesise.ts";
import { type Exchange, recordExchanges } from "./alarms/exchanges.ts";
import { type Traffic, watch } from "./alarms/raised.ts";

const { alarms, published, raised } = watch(ordersStack(everyOption));

const recorded = await recordExchanges();
const { cancelFailed, cancelled, cutOff, keyMissing, listFailed, listed } = recorded;
const lambdas = Object.values<FunctionEntry>(functionList);

// What only AWS counts or writes is made up (Lambda developer guide, "Telemetry API event schema").
const report = (status: string, errorType?: string) => ({
  type: "platform.report",
  record: { status, errorType },
});
// Lambda also reports what a handler throws, which is not a crash.
const keyRejected = {
  ...recorded.keyRejected,
  lines: [...recorded.keyRejected.lines, report("error", "Error")],
};
const hungUp: Exchange = {
  ...listed,
  lines: [{ message: { event: "list_abandoned", orders: 1 } }],
};
const outOfMemory = report("error", "Runtime.OutOfMemory");
const crashedAtStart = [
  {
    type: "platform.initReport",
    record: { phase: "init", status: "error", errorType: "Runtime.ExitError" },
  },
  {
    type: "platform.initReport",
    record: { phase: "invoke", status: "error", errorType: "Runtime.ExitError" },
  },
  report("error", "Runtime.ExitError"),
];
const unusable = { status: 502, responseType: "API_CONFIGURATION_ERROR" };
const unusablePolicy = {
  ...recorded.authorizerFailed,
  responseType: "AUTHORIZER_CONFIGURATION_ERROR",
  lines: [],
};
const slowFirstPage: Exchange = {
  ...listed,
  lines: JSON.parse(
    JSON.stringify(listed.lines).replace(/(?<="firstPageMilliseconds":)\d+/, "3500"),
  ),
};
const ofCancellations = functionList.cancelOrder.operation;

/** A request for which Lambda turned the function away. */
function turnedAway({ id, operation }: FunctionEntry): Sample[] {
  const { lambda: _, ...request } = { ...recorded.authorizerFailed, ...operation, lines: [] };
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

/** 600 requests a minute, with everything that is harmless. */
const healthy: Traffic = [
  [published(listed), 540],
  [published(cancelled), 30],
  [published(recorded.rejected), 10],
  [published(recorded.notFound), 5],
  [published(recorded.unknownPath), 5],
  [published(keyMissing), 5],
  [published(keyRejected), 5],
];

// A canary takes a tenth of the requests.
const canary = { cancels: 3, lists: 54 };

/**
 * The faults that occur while most requests are served, each with exactly the alarms that it
 * raises.
 */
const faults: [name: string, requests: [Exchange, perMinute: number][], alarms: string[]][] = [
  ["healthy traffic alone", [], []],
  [
    "a canary whose cancellations fail, half a percent of the traffic",
    [[cancelFailed, canary.cancels]],
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  // A list that crashes is cut off, too; it has rows of its own.
  ...lambdas
    .filter(({ operation }) => operation && !operation.streamed)
    .map(({ id, operation }): (typeof faults)[number] => [
      `a few invocations of ${id} that crash at the start`,
      [
        [
          { ...cancelled, ...operation, status: 500, lambda: id, lines: crashedAtStart },
          canary.cancels,
        ],
      ],
      [`${id}Failing`, `${id}ServerErrors`],
    ]),
  [
    "a canary whose cancellations time out",
    [[{ ...cancelled, status: 504, lines: [report("timeout")] }, canary.cancels]],
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  [
    "a canary whose sandbox fails",
    [[{ ...cancelled, status: 500, lines: [report("failure")] }, canary.cancels]],
    ["CancelOrderFailing", "CancelOrderServerErrors"],
  ],
  [
    "a canary that cancels, but whose responses the gateway can't use",
    [[{ ...cancelled, ...unusable }, canary.cancels]],
    ["CancelOrderServerErrors"],
  ],
  [
    "a canary whose lists the gateway can't use",
    [[{ ...listed, ...unusable }, canary.lists]],
    ["ApiServerErrors", "ListOrdersServerErrors"],
  ],
  [
    "a canary whose lists fail",
    [[listFailed, canary.lists]],
    ["ApiServerErrors", "ListOrdersFailing", "ListOrdersServerErrors"],
  ],
  [
    "a canary whose lists are cut off",
    [[cutOff, canary.lists]],
    ["ListOrdersFailing", "ListsCutOff"],
  ],
  [
    "lists that run out of memory midway",
    [[{ ...listed, lines: [outOfMemory] }, canary.lists]],
    ["ListOrdersFailing", "ListsCutOff"],
  ],
  ["three of thousands of lists cut off", [[cutOff, 3 / 5]], ["ListsCutOff"]],
  [
    "a canary of the authorizer that fails, for both operations",
    [
      [recorded.authorizerFailed, 60],
      [{ ...recorded.authorizerFailed, ...ofCancellations }, 60],
    ],
    ["ApiServerErrors", "AuthorizeFailing", "AuthorizeServerErrors"],
  ],
  [
    "an authorizer whose policies the gateway can't use",
    [[unusablePolicy, 60]],
    ["ApiServerErrors", "AuthorizeServerErrors"],
  ],
  [
    "a new authorizer that rejects good keys, or a stranger who makes up keys",
    [[keyRejected, 120]],
    ["KeysRejected"],
  ],
  [
    "a canary whose cancellations fail while a stranger tries out keys",
    [
      [cancelFailed, canary.cancels],
      [{ ...keyMissing, ...ofCancellations }, 1000],
      [{ ...keyMissing, ...ofCancellations, status: 429, responseType: "THROTTLED" }, 1000],
    ],
    ["CancelOrderFailing", "CancelOrderServerErrors", "RequestsThrottled"],
  ],
  [
    "a table of orders that can't be reached",
    [
      [listFailed, 540],
      [cancelFailed, 60],
    ],
    [
      "ApiServerErrors",
      "CancelOrderFailing",
      "CancelOrderServerErrors",
      "ListOrdersFailing",
      "ListOrdersServerErrors",
    ],
  ],
  ["slow cancellations", [[{ ...cancelled, milliseconds: 2500 }, 1]], ["CancelSlow"]],
  ["slow lists", [[slowFirstPage, 10]], ["ListSlow"]],
  ["clients that hang up before their lists end", [[hungUp, 100]], []],
  ["lists that last because clients read slowly", [[{ ...listed, milliseconds: 60_000 }, 100]], []],
];

describe("the alarms that go off", () => {
  test.each(faults)("during %s: $2", (_name, requests, expected) => {
    const traffic = requests.map(([request, perMinute]): Traffic[number] => [
      published(request),
      perMinute,
    ]);
    expect(raised([...healthy, ...traffic])).toEqual(expected);
  });

  test.each(lambdas)("while $id has no concurrency left: its Throttled alarm", (lambda) => {
    const traffic: Traffic = [...healthy, [turnedAway(lambda), 60]];
    expect(raised(traffic)).toEqual(["ApiServerErrors", `${lambda.id}Throttled`].sort());
  });

  test.each(lambdas)("while its table throttles $id: its TableThrottled alarm", (lambda) => {
    const traffic: Traffic = [...healthy, [tableThrottled(lambda), 20]];
    expect(raised(traffic)).toEqual([`${lambda.id}TableThrottled`]);
  });

  test("include every alarm, each during at least one of these faults", () => {
    const throttled = lambdas.flatMap(({ id }) => [`${id}Throttled`, `${id}TableThrottled`]);
    expect(new Set([...faults.flatMap(([, , expected]) => expected), ...throttled])).toEqual(
      new Set(alarms),
    );
  });

  test("without any request: none", () => {
    expect(raised([])).toEqual([]);
  });

  test("while a few requests fail on a quiet night: none", () => {
    // Two failures in five minutes.
    const quiet: Traffic = [
      [published(cancelFailed), 2 / 5],
      [published(keyRejected), 3],
    ];
    expect(raised(quiet)).toEqual([]);
  });

  test("while the gateway may not invoke the authorizer: AuthorizeServerErrors", () => {
    expect(raised([[published({ ...unusablePolicy, lambda: undefined }), 3 / 5]])).toEqual([
      "ApiServerErrors",
      "AuthorizeServerErrors",
    ]);
  });

  test("while responses can't be used and another stack has switched the access log off", () => {
    const unlogged = published({ ...listed, ...unusable }).filter(
      ([metric]) => !metric.startsWith("PetStoreOrders/"),
    );
    expect(raised([...healthy, [unlogged, canary.lists]])).toEqual(["ApiServerErrors"]);
  });

  test("while one key lists as fast as it can: none that rolls back another function", () => {
    // It slows lists down, exhausts the table's read units, and leaves no concurrency to anyone.
    const flood = [slowFirstPage, listFailed, cutOff].map(published);
    flood.push(tableThrottled(functionList.listOrders), ...lambdas.map(turnedAway));
    const traffic = flood.map((samples): Traffic[number] => [samples, 600]);
    const ofOthers = raised([...healthy, ...traffic]).filter(
      (alarm) => !/^Lists?[A-Z]/.test(alarm),
    );
    // These only notify.
    expect(ofOthers).toEqual(["ApiServerErrors", "AuthorizeThrottled", "CancelOrderThrottled"]);
  });

  test("while cancellations fail and Lambda turns lists away: those of both", () => {
    const failing: Traffic = [
      [published(cancelFailed), 100],
      [turnedAway(functionList.listOrders), 300],
    ];
    expect(raised([...healthy, ...failing])).toEqual([
      "ApiServerErrors",
      "CancelOrderFailing",
      "CancelOrderServerErrors",
      "ListOrdersThrottled",
    ]);
  });
});
