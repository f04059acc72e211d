import { type Behaviour, type EngineCall, passOn } from "./fault-proxy.ts";

/** Tells a proxy what to do with each call. */
type Choice = (call: EngineCall) => Behaviour | undefined;

/** Every call of an operation meets this. */
export const onEvery =
  (name: string, behaviour: Behaviour): Choice =>
  ({ operation }) =>
    operation === name ? behaviour : undefined;

/** The first attempt of each call of an operation meets this. */
export const onFirst =
  (name: string, behaviour: Behaviour): Choice =>
  ({ operation, attempt }) =>
    operation === name && attempt === 1 ? behaviour : undefined;

/** Does something just before each call of an operation reaches the engine. */
export const justBefore = (name: string, act: () => Promise<unknown>): Choice =>
  onEvery(name, async (exchange) => {
    await act();
    await passOn(exchange);
  });
