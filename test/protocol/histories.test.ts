import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OrderState } from "../helpers/history/contract.ts";
import {
  altered,
  begin,
  cancelled,
  type Event,
  end,
  happened,
  histories,
  operations,
  play,
  read,
  shipped,
  states,
} from "../helpers/history/events.ts";
import { callsOf, explained } from "../helpers/history/every-order.ts";
import { Histories } from "../helpers/history/histories.ts";
import { OrderHistory } from "../helpers/history/order-history.ts";

function violation(initial: OrderState, events: readonly Event[]): string | undefined {
  const history = new OrderHistory(initial);
  for (const event of events) {
    if ("begin" in event) history.begin(event.begin, operations[event.begin] ?? { kind: "ship" });
    else if ("end" in event) history.end(event.end, event.response);
    else history.read(event.read);
  }
  return history.violation;
}

describe("a history is right", () => {
  test.each<[string, Event[]]>([
    ["when one cancels and the next gets a 409", [begin("a"), end("a", "204"), begin("b"), end("b", cancelled)]],
    ["when the later of two at once wins", [begin("a"), begin("b"), end("a", cancelled), end("b", "204")]],
    ["when a 503 has cancelled", [begin("a"), end("a", "503 service_unavailable"), read("cancelled by a")]],
    ["when a 503 cancels later", [begin("a"), end("a", "503"), read("pending"), read("cancelled by a")]],
    ["when a 503 never does", [begin("a"), end("a", "503"), read("pending"), begin("b"), end("b", "204")]],
    ["when a ship comes first", [begin("a"), begin("ship"), end("ship", "shipped"), end("a", shipped)]],
  ])("%s", (_, events) => {
    expect(violation("pending", events)).toBeUndefined();
  });
});

describe("a history is wrong", () => {
  test.each<[string, Event[], string]>([
    [
      "when two cancel",
      [begin("a"), begin("b"), end("a", "204"), end("b", "204")],
      `b gets 204; by the contract it is ${cancelled}`,
    ],
    [
      "when a client hears of a shipment that has not begun",
      [begin("a"), end("a", shipped), begin("ship"), end("ship", "shipped")],
      `a gets ${shipped}; by the contract it is 204`,
    ],
    ["when nobody has cancelled", [begin("a"), end("a", cancelled)], `a gets ${cancelled}; by the contract it is 204`],
    [
      "when a 204 is forgotten",
      [begin("a"), end("a", "204"), read("pending")],
      "the order is pending; by the contract it is cancelled by a",
    ],
    [
      "when the other one has cancelled",
      [begin("a"), begin("b"), end("a", "204"), read("cancelled by b")],
      "the order is cancelled by b; by the contract it is cancelled by a",
    ],
    [
      "when an order that has shipped is cancelled",
      [begin("a"), end("a", "503"), begin("ship"), read("shipped"), read("cancelled by a")],
      "the order is cancelled by a; by the contract it is shipped",
    ],
  ])("%s", (_, events, verdict) => {
    expect(violation("pending", events)).toBe(verdict);
  });
});

describe("of any history of two cancellations, a shipment and two reads", () => {
  test("the verdict is that of trying every order of its operations", () => {
    const verdicts = { right: 0, wrong: 0 };
    fc.assert(
      fc.property(fc.oneof(fc.tuple(fc.constantFrom(...states), histories), altered), ([initial, events]) => {
        const right = explained(initial, callsOf(events));
        verdicts[right ? "right" : "wrong"] += 1;
        expect(violation(initial, events) === undefined).toBe(right);
      }),
      { numRuns: 5_000 },
    );
    expect(verdicts.right).toBeGreaterThan(500);
    expect(verdicts.wrong).toBeGreaterThan(500);
  });

  test("one that has happened is right, and stays right when a request begins earlier or ends later", () => {
    fc.assert(
      fc.property(fc.constantFrom(...states), happened, fc.nat(), (initial, moves, at) => {
        const events = play(initial, moves);
        expect(violation(initial, events)).toBeUndefined();
        const event = events[at % events.length] ?? read(initial);
        const from = events.indexOf(event);
        const to = "begin" in event ? from - 1 : "end" in event ? from + 1 : from;
        const wider = events.toSpliced(from, 1).toSpliced(Math.max(0, to), 0, event);
        expect(violation(initial, wider)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });
});

test("recorded requests are held to the contract, order by order", async () => {
  const recorded = new Histories("pending");
  const cancel = { kind: "cancel", by: "key" } as const;
  await recorded.record("1", cancel, async () => ({ status: 204, body: "" }));
  await recorded.record("2", cancel, async () => ({ status: 204, body: "" }));
  await expect(recorded.record("3", cancel, () => Promise.reject(new Error("reset")))).rejects.toThrow("reset");
  recorded.settle("1", "cancelled by key");
  recorded.settle("2", "pending");
  recorded.settle("3", "pending");
  expect(recorded.wrong).toEqual(["Order 2: the order is pending; by the contract it is cancelled by key"]);
  expect(recorded.summary).toBe("3 requests in the histories of 3 orders; not linearizable: 1");
});
