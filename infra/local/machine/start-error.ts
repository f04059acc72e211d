/** Why the local stack can't start, as one clear line for the person who started it. */
export class StartError extends Error {
  override name = "StartError";
}
