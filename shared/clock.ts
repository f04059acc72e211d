import { setTimeout } from "node:timers/promises";

/** The time in milliseconds, and a way to let some of it pass. */
export interface Clock {
  now(): number;
  pause(milliseconds: number): Promise<void>;
}

export const systemClock: Clock = { now: () => performance.now(), pause: (milliseconds) => setTimeout(milliseconds) };
