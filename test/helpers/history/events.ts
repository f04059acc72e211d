import fc from "fast-check";
import { type Operation, type OrderState, perform } from "./contract.ts";

/** The visible events of a history, in the order in which they are seen. */
export type Event = { begin: string } | { end: string; response: string } | { read: OrderState };

export const operations: Record<string, Operation> = {
  a: { kind: "cancel", by: "a" },
  b: { kind: "cancel", by: "b" },
  ship: { kind: "ship" },
};

export const begin = (name: string): Event => ({ begin: name });
export const end = (name: string, response: string): Event => ({ end: name, response });
export const read = (state: OrderState): Event => ({ read: state });
export const cancelled = "409 order_already_cancelled";
export const shipped = "409 order_already_shipped";

export const states: OrderState[] = ["absent", "pending", "shipped", "not pending", "cancelled by a", "cancelled by b"];
export const responses = [
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
export const histories: fc.Arbitrary<Event[]> = fc
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
export const happened = fc.record({
  order: fc.shuffledSubarray(["a", "a", "a", "b", "b", "b", "ship", "ship", "ship", "read", "read"], { minLength: 11 }),
  lost: fc.subarray(["a", "b", "ship"]),
  failed: fc.subarray(["a", "b", "ship"]),
});

export function play(
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
export const altered: fc.Arbitrary<[OrderState, Event[]]> = fc
  .tuple(fc.constantFrom(...states), happened, fc.nat(), fc.constantFrom(...responses), fc.constantFrom(...states))
  .map(([initial, moves, at, response, state]) => {
    const events = play(initial, moves);
    const event = events[at % events.length];
    if (event === undefined || "begin" in event) return [initial, events];
    const other = "end" in event ? end(event.end, response) : read(state);
    return [initial, events.with(events.indexOf(event), other)];
  });
