/** A request that ends in a gateway response. The message is its type, like `THROTTLED`. */
export class GatewayFailure extends Error {
  override name = "GatewayFailure";
}
