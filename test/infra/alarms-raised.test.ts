import { describe, expect, test } from "vitest";
import { environments } from "../../infra/environments.ts";
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
} from "../helpers/alarms/watched-stack.ts";

const production = watch(environments.production);
const limited = watch({ ...environments.production, listConcurrency: 20 });

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

  test("lists that Lambda turns away only notify", () => {
    expect(raised(limited.alarms, tooManyLists().samples, 5)).toEqual(["ListOrdersThrottled"]);
  });

  test("other failures beside them still do, and so they do while no list is turned away", () => {
    const failing = { minutes: always, times: 100 };
    const expected = ["CancelOrderFailing", "CancelOrderServerErrors"];
    expect(raised(limited.alarms, tooManyLists().requests(recorded.cancelFailed, failing).samples, 5)).toEqual([
      ...expected,
      "ListOrdersThrottled",
    ]);
    expect(raised(limited.alarms, limited.healthy().requests(recorded.cancelFailed, failing).samples, 5)).toEqual(
      expected,
    );
  });
});
