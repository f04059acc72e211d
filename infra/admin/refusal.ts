/** Why a command can't do what it was asked to, as one clear line for the operator. The process then exits with 1. */
export class Refusal extends Error {
  override name = "Refusal";
}
