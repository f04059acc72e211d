import { claimsNothing, type Operation, type OrderState, perform } from "./contract.ts";

/**
 * What the contract still allows an operation that has begun. By the contract, an order changes at most
 * once, and an observer reads it after every event: a change shows which operation took effect, and
 * without one, each may have found the order in any state since it began.
 */
export interface Claim {
  operation: Operation;
  /** Whether it may take effect, now or later. */
  isOpen: boolean;
  /** The responses that its client may get, besides those that claim nothing, until it gets one. */
  responses: readonly string[] | undefined;
}

export function begin(operation: Operation, state: OrderState): Claim {
  return see({ operation, isOpen: true, responses: [] }, state, state);
}

/** The claim after the order was in one state and is seen in another, or in the same. */
export function see(claim: Claim, was: OrderState, is: OrderState): Claim {
  const { operation, isOpen, responses } = claim;
  if (!isOpen) return claim;
  const effect = perform(was, operation);
  if (was !== is && effect.state === is)
    return { operation, isOpen: false, responses: [effect.response] };
  const { state, response } = perform(is, operation);
  if (state !== is || !responses || responses.includes(response)) return claim;
  return { operation, isOpen, responses: [...responses, response] };
}

/** The claim after its client got a response. */
export function end({ operation, isOpen }: Claim, response: string): Claim {
  return { operation, isOpen: isOpen && claimsNothing(response), responses: undefined };
}

/** The states in which an order may be seen next. */
export function statesAfter(state: OrderState, claims: readonly Claim[]) {
  const open = claims.filter(({ isOpen }) => isOpen);
  const changed = open.map(({ operation }) => perform(state, operation).state);
  return [...new Set([state, ...changed])].sort();
}
