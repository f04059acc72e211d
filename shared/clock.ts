import { setTimeout } from "node:timers/promises";

/** A monotonic time in milliseconds, and a pause, which rejects when the signal aborts. */
export const systemClock = {
  now: () => performance.now(),
  pause: (milliseconds: number, signal?: AbortSignal) =>
    setTimeout<void>(milliseconds, undefined, { signal }),
};

export type Clock = typeof systemClock;
