import {
  type Behaviour,
  type Choice,
  respond,
} from "../../helpers/faults/fault-proxy.ts";

export function onFirst(operation: string, behaviour: Behaviour): Choice {
  return (call) =>
    call.operation === operation && call.attempt === 1 ? behaviour : undefined;
}

/** `failing` resolves at the first call that meets the behaviour. */
export function onEveryAfter(count: number, operation: string, behaviour: Behaviour) {
  const { promise: failing, resolve } = Promise.withResolvers<void>();
  let made = 0;
  const calls: Choice = (call) => {
    if (call.operation !== operation || ++made <= count) return undefined;
    resolve();
    return behaviour;
  };
  return { calls, failing };
}

export function pagesOf(Limit: number): Behaviour {
  return async ({ forward, input, response }) =>
    respond(response, await forward(JSON.stringify({ ...JSON.parse(input), Limit })));
}
