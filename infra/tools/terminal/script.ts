import { Command, CommanderError, Help, InvalidArgumentError } from "commander";
import { errorText, isFailure, isOutputError } from "./errors.ts";
import { printableLines } from "./text.ts";

/** commander's own texts, which ours extend. */
const help = new Help();

/**
 * A command line. Wrong use exits with 2 and prints one line that is safe for a
 * terminal, with keys cut short.
 */
export class Script extends Command {
  /** @param usage like `petstore`. */
  constructor(usage: string) {
    super(usage);
    this.configureHelp({
      showGlobalOptions: true,
      // By itself, commander doesn't say which options are required.
      optionDescription: (option) =>
        help.optionDescription(option) + (option.mandatory ? " (required)" : ""),
    })
      .configureOutput({
        outputError: (text, write) => {
          // commander echoes arguments unescaped, also what may be a part of a key.
          write(
            printableLines(text)
              .replaceAll(/(?!\d+\b)[0-9A-Za-z]{20,}/g, "...")
              .replace(/^error: command-argument value/, "error:"),
          );
        },
      })
      .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  }

  /**
   * Runs the command line, and sets the exit code: 2 for wrong use; for a failure 1,
   * unless the command has set its own. To be called after `exitOverride()`, without which wrong use ends the process.
   */
  async run(words: string[]) {
    try {
      await this.parseAsync(words, { from: "user" });
    } catch (error) {
      const isWrongUse = error instanceof CommanderError;
      // commander exits with 1 for wrong use, and with 0 after its help.
      if (isWrongUse) process.exitCode = error.exitCode && 2;
      else process.exitCode ||= 1;
      // The reader of a closed pipe wants neither the rest nor an error.
      const isClosedPipe =
        isFailure(error) && error.code === "EPIPE" && isOutputError(error);
      if (!isWrongUse && !isClosedPipe) process.stderr.write(`${errorText(error)}\n`);
    }
  }
}

/** A parser that rejects texts with the rule that they break. */
export function accepting(isAccepted: (text: string) => boolean, rule: string) {
  return (text: string) => {
    if (isAccepted(text)) return text;
    throw new InvalidArgumentError(rule);
  };
}

/** A parser of any text but an empty one, which an unset shell variable would make. */
export const parseNonEmpty = accepting(Boolean, "Must not be empty.");

/** A parser of whole numbers within bounds, which it names when it rejects a text. */
export function wholeNumber(least: number, most: number) {
  return (text: string) => {
    const number = Number(text);
    if (/^\d{1,6}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Must be a whole number from ${least} to ${most}.`);
  };
}
