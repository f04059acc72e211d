/** A reason why the local stack can't start, in one line for the person who started it. */
export class StartError extends Error {
  override name = "StartError";
}
