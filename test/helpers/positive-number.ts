import { InvalidArgumentError } from "commander";

/** Parses the number of a command-line option, which is above 0. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Number.POSITIVE_INFINITY)) throw new InvalidArgumentError("Not a number above 0.");
  return value;
}
