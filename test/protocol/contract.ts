/**
 * The contract (`shared/openapi.yaml`) for one order, one operation at a time. It knows nothing of
 * attempts, retries or the table. It must explain every history of real, overlapping operations.
 */

/** The state of an order, as far as clients can tell. */
export type OrderState =
  | "absent"
  | "pending"
  | "shipped"
  /** Has a status that the contract does not name. */
  | "not pending"
  | `cancelled by ${string}`;

export type Operation = { kind: "cancel"; by: string } | { kind: "ship" };

/** The effect of an operation, and the response that its client must get. */
export function perform(
  state: OrderState,
  operation: Operation,
): { state: OrderState; response: string } {
  if (operation.kind === "ship") {
    return state === "pending"
      ? { state: "shipped", response: "shipped" }
      : { state, response: "not shipped" };
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

/** After a 5xx, an operation may have taken effect, or may yet. */
export function claimsNothing(response: string) {
  return response.startsWith("5");
}
