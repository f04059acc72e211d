/**
 * What the contract (`shared/openapi.yaml`) says of one order, one operation at a time. It knows nothing of attempts,
 * retries or the table: it is what every history of real, overlapping operations has to look like.
 */

/** An order as its clients can tell it from another: by its status and, once cancelled, by who cancelled it. */
export type OrderState = "absent" | "pending" | "shipped" | "not pending" | `cancelled by ${string}`;

export type Operation = { kind: "cancel"; by: string } | { kind: "ship" };

/**
 * What an operation does to an order, and what its client must get: `204`, or the status and code of an error.
 * The service has no operation that ships, so its two responses are ours to name.
 */
export function perform(state: OrderState, operation: Operation): { state: OrderState; response: string } {
  if (operation.kind === "ship") {
    return state === "pending" ? { state: "shipped", response: "shipped" } : { state, response: "not shipped" };
  }
  switch (state) {
    case "pending":
      return { state: `cancelled by ${operation.by}`, response: "204" };
    case "absent":
      return { state, response: "404 order_not_found" };
    case "shipped":
      return { state, response: "409 order_already_shipped" };
    case "not pending":
      return { state, response: "409 order_not_pending" };
    default:
      return { state, response: "409 order_already_cancelled" };
  }
}

/** Whether a response says anything about the order. A 5xx does not: its operation may have taken effect, or may yet. */
export function claimsNothing(response: string): boolean {
  return response.startsWith("5");
}
