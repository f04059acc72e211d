import { describe, expect, test } from "vitest";
import { functionList } from "../../infra/stack/function-list.ts";
import { faults } from "../helpers/alarms/fault-table.ts";
import { raised } from "../helpers/alarms/raised.ts";
import {
  allTurnedAway,
  always,
  lambdas,
  recorded,
  slowFirstPage,
  unusablePolicy,
  watch,
} from "../helpers/alarms/traffic.ts";
import { everyOption } from "../helpers/fixture-environments.ts";

// The traffic is that of the stack's own tables.
const { restoredTables: _, formerTables: __, ...watched } = everyOption;
const stack = watch(watched);

describe("the alarms that go off", () => {
  test.each(faults)("during %s", (_name, add, expected) => {
    expect(raised(stack.alarms, add(stack.healthy()).samples, 5).sort()).toEqual(expected.sort());
  });

  test("include each alarm for some fault", () => {
    const covered = new Set(faults.flatMap(([, , alarms]) => alarms));
    expect(covered).toEqual(new Set(stack.alarms.map(({ name }) => name)));
  });

  test("without any request, or with a few that fail in a quiet night: none", () => {
    const silent = stack.healthy();
    silent.samples.length = 0;
    expect(raised(stack.alarms, silent.samples, 5)).toEqual([]);
    silent.requests(recorded.cancelFailed, { minutes: [2, 4], times: 1 });
    silent.requests(recorded.keyRejected, { minutes: always, times: 3 });
    expect(raised(stack.alarms, silent.samples, 5)).toEqual([]);
  });
});

test("an authorizer that the gateway may not even invoke raises its server errors", () => {
  const silent = stack.healthy();
  silent.samples.length = 0;
  silent.requests({ ...unusablePolicy, ran: {} }, { minutes: always, times: 1 });
  expect(raised(stack.alarms, silent.samples, 5)).toEqual(["AuthorizeServerErrors"]);
});

describe("one key that lists as fast as it can", () => {
  // It slows lists down, exhausts the table's read units, and leaves no concurrency to anyone.
  const flood = () => {
    const load = { minutes: always, times: 600 };
    const traffic = stack
      .healthy()
      .requests(slowFirstPage, load)
      .requests(recorded.listFailed, load)
      .requests(recorded.cutOff, load)
      .tableThrottled(functionList.listOrders, load);
    for (const { id } of lambdas) allTurnedAway(traffic, id, load);
    return raised(stack.alarms, traffic.samples, 5);
  };

  test("stops the rollout of lists only", () => {
    const on = new Set(flood());
    const stopped = Object.entries(stack.rollingBack).filter(([, alarms]) => alarms.some((name) => on.has(name)));
    expect(stopped.map(([lambda]) => lambda)).toEqual(["ListOrders"]);
  });
});

describe("lists that Lambda turns away", () => {
  const tooManyLists = () => allTurnedAway(stack.healthy(), "ListOrders", { minutes: always, times: 300 });

  test("only notify", () => {
    expect(raised(stack.alarms, tooManyLists().samples, 5)).toEqual(["ListOrdersThrottled"]);
  });

  test("hide no other failure beside them, nor does their absence", () => {
    const failing = { minutes: always, times: 100 };
    const expected = ["CancelOrderFailing", "CancelOrderServerErrors"];
    expect(raised(stack.alarms, tooManyLists().requests(recorded.cancelFailed, failing).samples, 5)).toEqual([
      ...expected,
      "ListOrdersThrottled",
    ]);
    expect(raised(stack.alarms, stack.healthy().requests(recorded.cancelFailed, failing).samples, 5)).toEqual(expected);
  });
});
