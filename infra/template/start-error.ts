/**
 * A reason why the local stack can't serve the service, in one line for the person who started it.
 */
export class StartError extends Error {
  override name = "StartError";
}
