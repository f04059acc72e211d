import { beforeAll, expect, test } from "vitest";
import { type FunctionEntry, functionList } from "../../infra/stack/function-list.ts";
import { everyOption } from "../helpers/fixture-environments.ts";
import { ordersStack } from "../helpers/synthesise.ts";
import { metricName, type Sample, type Traffic, watch } from "./alarms/cloudwatch.ts";
import { type Exchange, recordExchanges, recorded } from "./alarms/exchanges.ts";

const { alarms, published, raised } = watch(ordersStack(everyOption));

beforeAll(recordExchanges);

const { authorizerFailed, cancelFailed, cancelled, cutOff, listFailed, listed } =
  recorded;
const lambdas = Object.values<FunctionEntry>(functionList);
const ofCancellations = functionList.cancelOrder.operation;

// What only AWS counts or writes is made up (Lambda developer guide, "Telemetry API event schema").
const report = (status: string, errorType?: string, type = "platform.report") => ({
  type,
  record: { status, errorType },
});
const crash = "Runtime.OutOfMemory";
const crashes = {
  crashed: () =>
    listed({
      lines: [report("error", crash, "platform.initReport"), report("error", crash)],
    }),
  timedOut: () => cancelled({ lines: [report("timeout")] }),
  sandboxLost: () => cancelled({ lines: [report("failure")] }),
};
// Lambda also reports what a handler throws, which is not a crash.
const keyRejected = () => {
  const { lines } = recorded.keyRejected();
  return recorded.keyRejected({ lines: [...lines, report("error", "Error")] });
};
const keyMissing = () => recorded.keyMissing(ofCancellations);
const responseType = "AUTHORIZER_CONFIGURATION_ERROR";
const unusable = { status: 502, responseType: "API_CONFIGURATION_ERROR" };
const unusablePolicy = () => authorizerFailed({ responseType, lines: [] });
const abandoned = () =>
  listed({ lines: [{ message: { event: "list_abandoned", orders: 1 } }] });
const slowCancel = () => cancelled({ milliseconds: 2500 });
const slowFirstPage = () =>
  listed({ lines: [{ message: { firstPageMilliseconds: 3500 } }] });

function turnedAway({ id, operation }: FunctionEntry): Sample[] {
  const { lambda: _, ...request } = authorizerFailed({ ...operation, lines: [] });
  const throttle: Sample = [
    metricName("AWS/Lambda", "Throttles", { FunctionName: id }),
    1,
  ];
  if (operation) delete request.responseType;
  return [...published({ ...request, status: 500 }), throttle];
}

/** DynamoDB counts a request whatever becomes of its retries. */
function tableThrottled({ action, table }: FunctionEntry): Sample[] {
  const dimensions = {
    Operation: action,
    TableName: { orders: "Orders", apiKeys: "ApiKeys" }[table],
  };
  return [[metricName("AWS/DynamoDB", "ThrottledRequests", dimensions), 1]];
}

/** Samples and how often they come, once the exchanges are recorded. */
type Load = () => Traffic[number];

const at = (perMinute: number, ...requests: (() => Exchange)[]): Load[] =>
  requests.map((request) => () => [published(request()), perMinute]);

/** 600 requests a minute, with everything that is harmless. */
const healthy = [
  ...at(540, listed),
  ...at(30, cancelled),
  ...at(10, recorded.rejected),
  ...at(5, recorded.notFound, recorded.unknownPath, recorded.keyMissing, keyRejected),
];

// A canary takes a tenth of the requests, and few are cancellations.
const canary = { cancels: 3, lists: 54 };

/** It lasts five minutes unless given. */
type Fault = [name: string, traffic: Load[], alarms: string, minutes?: number];

const ofCancelOrder = "CancelOrderFailing, CancelOrderServerErrors";
const whileServing: Fault[] = [
  ["no fault", [], ""],
  ["a canary whose cancellations fail", at(canary.cancels, cancelFailed), ofCancelOrder],
  [
    "a canary that cancels, but whose responses the gateway can't use",
    at(canary.cancels, () => cancelled(unusable)),
    "CancelOrderServerErrors",
  ],
  [
    "a canary whose lists fail",
    at(canary.lists, listFailed),
    "ApiServerErrors, ListOrdersFailing, ListOrdersServerErrors",
  ],
  [
    "a canary whose lists are cut off",
    at(canary.lists, cutOff),
    "ListOrdersFailing, ListsCutOff",
  ],
  ["three of thousands of lists cut off", at(3 / 5, cutOff), "ListsCutOff"],
  [
    "a canary whose authorizer fails, for both operations",
    at(60, authorizerFailed, () => authorizerFailed(ofCancellations)),
    "ApiServerErrors, AuthorizeFailing, AuthorizeServerErrors",
  ],
  [
    "a canary of the authorizer whose policies the gateway can't use",
    at(60, unusablePolicy),
    "ApiServerErrors, AuthorizeServerErrors",
  ],
  ["good keys rejected, or keys made up", at(120, keyRejected), "KeysRejected"],
  [
    "a canary whose cancellations fail while a stranger tries out keys",
    [
      ...at(canary.cancels, cancelFailed),
      ...at(1000, keyMissing, () => ({
        ...keyMissing(),
        status: 429,
        responseType: "THROTTLED",
      })),
    ],
    `${ofCancelOrder}, RequestsThrottled`,
  ],
  ["three minutes of slow cancellations", at(1, slowCancel), "CancelSlow", 3],
  ["two minutes of slow cancellations", at(1, slowCancel), "", 2],
  ["three minutes of slow lists", at(10, slowFirstPage), "ListSlow", 3],
  ["two minutes of slow lists", at(10, slowFirstPage), "", 2],
  ["clients that read slowly", at(100, () => listed({ milliseconds: 60_000 })), ""],
  ...lambdas.flatMap((lambda): Fault[] => [
    [
      `no concurrency left for ${lambda.id}`,
      [() => [turnedAway(lambda), 60]],
      `ApiServerErrors, ${lambda.id}Throttled`,
    ],
    [
      `a table that throttles ${lambda.id}`,
      [() => [tableThrottled(lambda), 20]],
      `${lambda.id}TableThrottled`,
    ],
  ]),
  [
    "lists that the gateway can't use, while another stack has switched the access log off",
    [
      () => [
        published(listed(unusable)).filter(
          ([metric]) => !metric.startsWith("PetStoreOrders/"),
        ),
        canary.lists,
      ],
    ],
    "ApiServerErrors",
  ],
  [
    "one key that lists as fast as it can, and leaves no capacity to anyone",
    [
      ...at(600, slowFirstPage, listFailed, cutOff),
      () => [tableThrottled(functionList.listOrders), 600],
      ...lambdas.map(
        (lambda): Load =>
          () => [turnedAway(lambda), 600],
      ),
    ],
    // Of these, only those of lists roll back.
    "ApiServerErrors, ListOrdersFailing, ListOrdersServerErrors, ListOrdersTableThrottled, " +
      `ListSlow, ListsCutOff, ${lambdas.map(({ id }) => `${id}Throttled`).join(", ")}`,
  ],
  [
    "cancellations that fail while Lambda turns lists away",
    [...at(100, cancelFailed), () => [turnedAway(functionList.listOrders), 300]],
    `ApiServerErrors, ${ofCancelOrder}, ListOrdersThrottled`,
  ],
];

const atNight: Fault[] = [
  ["no request", [], ""],
  [
    "lists that fail",
    at(1, listFailed),
    "ApiServerErrors, ListOrdersFailing, ListOrdersServerErrors",
  ],
  ["cancellations that fail", at(1, cancelFailed), `ApiServerErrors, ${ofCancelOrder}`],
  [
    "two failures in five minutes",
    [...at(2 / 5, cancelFailed), ...at(3, keyRejected)],
    "",
  ],
  [
    "an authorizer that the gateway may not invoke",
    at(3 / 5, () => ({ ...unusablePolicy(), lambda: undefined })),
    "ApiServerErrors, AuthorizeServerErrors",
  ],
];

test("a request adds to the metrics that its log lines are about", () => {
  const lines = Object.entries({ ...recorded, keyRejected, abandoned, ...crashes }).map(
    ([name, exchange]) => {
      const samples = published(exchange()).filter(([metric]) =>
        metric.startsWith("PetStoreOrders/every-option "),
      );
      expect(samples.filter(([, value]) => Number.isNaN(value))).toEqual([]);
      const metrics = samples.map(([metric]) => metric.replace(/^\S+ | \[\]$/g, ""));
      return `${name}: ${metrics.join(", ") || "none"}`;
    },
  );
  expect(lines.join("\n")).toBe(`authorizerFailed: AuthorizeServerErrors, AuthorizeFailed
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
abandoned: ListOrdersResponses
crashed: ListOrdersResponses, ListsCutOff, ListOrdersFailed
timedOut: CancelOrderResponses, CancelOrderFailed
sandboxLost: CancelOrderResponses, CancelOrderFailed`);
});

const now = (loads: Load[]): Traffic => loads.map((load) => load());
const namesOf = (expected: string) => (expected === "" ? [] : expected.split(", "));

test.each(whileServing)(
  "the alarms go off that are about %s",
  (_fault, traffic, expected, minutes = 5) => {
    const on = raised([now(healthy), Infinity], [now(traffic), minutes]);
    expect(on).toEqual(namesOf(expected).sort());
  },
);

test.each(atNight)(
  "on a quiet night, the alarms go off that are about %s",
  (_fault, traffic, expected) => {
    expect(raised([now(traffic), 5])).toEqual(namesOf(expected));
  },
);

test("on a quiet night, the alarms about what the gateway got from a function are over with the failures", () => {
  const failed = now(at(1, cancelFailed, listFailed, authorizerFailed));
  // The others wait for a request.
  const waiting =
    "ApiServerErrors, AuthorizeFailing, CancelOrderFailing, ListOrdersFailing";
  expect(raised([failed, 10, 5])).toEqual(namesOf(waiting));
});

test("every alarm goes off during one of these faults", () => {
  const faults = [...whileServing, ...atNight];
  const raisedByOne = faults.flatMap(([, , expected]) => namesOf(expected));
  expect(new Set(raisedByOne)).toEqual(new Set(alarms));
});
