import { claimsNothing, type OrderState, perform } from "./contract.ts";
import { type Event, operations } from "./events.ts";

/** An operation or a read with the time it has to take effect, from its beginning to its end. */
interface Call {
  from: number;
  to: number;
  /** The state after it; undefined when it is not what was seen. */
  effect(state: OrderState): OrderState | undefined;
  optional: boolean;
}

export function callsOf(events: readonly Event[]): Call[] {
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
export function explained(state: OrderState, calls: readonly Call[]): boolean {
  if (calls.every(({ optional }) => optional)) return true;
  return calls.some((call) => {
    const others = calls.filter((other) => other !== call);
    if (others.some(({ to }) => to < call.from)) return false;
    const after = call.effect(state);
    return after !== undefined && explained(after, others);
  });
}
