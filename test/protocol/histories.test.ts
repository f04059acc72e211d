import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claimsNothing, type Operation, type OrderState, perform } from "../helpers/history/contract.ts";
import { Histories } from "../helpers/history/histories.ts";
import { OrderHistory } from "../helpers/history/order-history.ts";

type Event = { begin: string } | { end: string; response: string } | { read: OrderState };

const operations: Record<string, Operation> = {
  a: { kind: "cancel", by: "a" },
  b: { kind: "cancel", by: "b" },
  ship: { kind: "ship" },
};

function violation(initial: OrderState, events: readonly Event[]): string | undefined {
  const history = new OrderHistory(initial);
  for (const event of events) {
    if ("begin" in event) history.begin(event.begin, operations[event.begin] ?? { kind: "ship" });
    else if ("end" in event) history.end(event.end, event.response);
    else history.read(event.read);
  }
  return history.violation;
}

const begin = (name: string): Event => ({ begin: name });
const end = (name: string, response: string): Event => ({ end: name, response });
const read = (state: OrderState): Event => ({ read: state });
const cancelled = "409 order_already_cancelled";
const shipped = "409 order_already_shipped";

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

/** An operation or a read with the time it has to take effect, from its beginning to its end. */
interface Call {
  from: number;
  to: number;
  /** The state after it; undefined when it is not what was seen. */
  effect(state: OrderState): OrderState | undefined;
  optional: boolean;
}

function callsOf(events: readonly Event[]): Call[] {
  return events.flatMap((event, from): Call[] => {
    if ("end" in event) return [];
    if ("read" in event)
      return [{ from, to: from, effect: (s) => (s === event.read ? s : undefined), optional: false }];
    const operation = operations[event.begin] ?? { kind: "ship" };
    const to = events.findIndex((other) => "end" in other && other.end === event.begin);
    const ended = events[to];
    const response = ended !== undefined && "response" in ended ? ended.response : "503";
    const open = claimsNothing(response);
    const effect = (state: OrderState): OrderState | undefined => {
      const after = perform(state, operation);
      return open || after.response === response ? after.state : undefined;
    };
    return [{ from, to: open ? Number.POSITIVE_INFINITY : to, effect, optional: open }];
  });
}

/** Tries every order of the calls that their times allow, with and without those that claim nothing. */
function explained(state: OrderState, calls: readonly Call[]): boolean {
  if (calls.every(({ optional }) => optional)) return true;
  return calls.some((call) => {
    const others = calls.filter((other) => other !== call);
    if (others.some(({ to }) => to < call.from)) return false;
    const after = call.effect(state);
    return after !== undefined && explained(after, others);
  });
}

const states: OrderState[] = ["absent", "pending", "shipped", "not pending", "cancelled by a", "cancelled by b"];
const responses = [
  "204",
  "404 order_not_found",
  cancelled,
  shipped,
  "409 order_not_pending",
  "503",
  "shipped",
  "not shipped",
];

/** Any events of three operations and two reads, each ending after its beginning. */
const histories: fc.Arbitrary<Event[]> = fc
  .tuple(
    fc.shuffledSubarray(["a", "b", "ship", "a", "b", "ship", "read", "read"], { minLength: 8 }),
    fc.array(fc.constantFrom(...responses), { minLength: 3, maxLength: 3 }),
    fc.array(fc.constantFrom(...states), { minLength: 2, maxLength: 2 }),
  )
  .map(([order, told, seen]) => {
    const begun = new Set<string>();
    return order.map((name): Event => {
      if (name === "read") return read(seen.pop() ?? "pending");
      if (begun.has(name)) return end(name, told.pop() ?? "503");
      begun.add(name);
      return begin(name);
    });
  });

/** A real history: each operation begins, takes effect or not, and ends; the order is read now and then. */
const happened = fc.record({
  order: fc.shuffledSubarray(["a", "a", "a", "b", "b", "b", "ship", "ship", "ship", "read", "read"], { minLength: 11 }),
  lost: fc.subarray(["a", "b", "ship"]),
  failed: fc.subarray(["a", "b", "ship"]),
});

function play(
  initial: OrderState,
  { order, lost, failed }: { order: string[]; lost: string[]; failed: string[] },
): Event[] {
  let now = initial;
  const steps = new Map<string, number>();
  const due = new Map<string, string>();
  return order.flatMap((name): Event[] => {
    if (name === "read") return [read(now)];
    const step = (steps.get(name) ?? 0) + 1;
    steps.set(name, step);
    if (step === 1) return [begin(name)];
    if (step === 3) return [end(name, failed.includes(name) ? "503" : (due.get(name) ?? "503"))];
    if (lost.includes(name)) return [];
    const { state, response } = perform(now, operations[name] ?? { kind: "ship" });
    now = state;
    due.set(name, response);
    return [];
  });
}

/** A real history with at most one response or read changed. Purely random events are almost never right. */
const altered: fc.Arbitrary<[OrderState, Event[]]> = fc
  .tuple(fc.constantFrom(...states), happened, fc.nat(), fc.constantFrom(...responses), fc.constantFrom(...states))
  .map(([initial, moves, at, response, state]) => {
    const events = play(initial, moves);
    const event = events[at % events.length];
    if (event === undefined || "begin" in event) return [initial, events];
    const other = "end" in event ? end(event.end, response) : read(state);
    return [initial, events.with(events.indexOf(event), other)];
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
