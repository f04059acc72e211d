import { InvalidArgumentError, Option } from "commander";

/** A command-line option that takes a number above 0. */
export function positiveNumber(flags: string, description: string, byDefault: number): Option {
  return new Option(flags, description).default(byDefault).argParser((text) => {
    const value = Number(text);
    if (!(value > 0 && value < Number.POSITIVE_INFINITY)) throw new InvalidArgumentError("Not a number above 0.");
    return value;
  });
}

/** A command-line option that takes a whole number of up to nine digits. */
export function wholeNumber(flags: string, description: string, byDefault: number): Option {
  return new Option(flags, description).default(byDefault).argParser((text) => {
    if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("Not a whole number.");
    return Number(text);
  });
}
