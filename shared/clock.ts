import { setTimeout } from "node:timers/promises";

/** The time in milliseconds, and a way to let some of it pass. */
export interface Clock {
  now(): number;
  /** Rejects when the signal aborts. */
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  pause: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }),
};
