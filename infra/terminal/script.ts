import { Command, Help, InvalidArgumentError } from "commander";
import { withoutKeys } from "../../shared/api-keys.ts";
import { adviceOnNpm } from "./npm-options.ts";
import { printableLines } from "./text.ts";

/**
 * The command line of an npm script. Wrong use exits with 2 and prints one line that is safe for a
 * terminal, with keys cut short.
 */
export class Script extends Command {
  /** @param usage like `npm run smoke --`. */
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
          const lines = withoutKeys(printableLines(text));
          write(
            lines
              .replaceAll(/(?!\d+\b)[0-9A-Za-z]{20,}/g, "...")
              .replace(/^error: command-argument value/, "error:"),
          );
        },
      })
      .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  }

  /** The first step of parsing the whole command line. Rejects options that npm has kept. */
  override parseOptions(words: string[]): ReturnType<Command["parseOptions"]> {
    const advice = adviceOnNpm([...new Set(flagsOf(this))], words);
    return advice === undefined ? super.parseOptions(words) : this.error(advice);
  }
}

const help = new Help();

/** The flags of a command and of all its subcommands. */
function flagsOf({ commands, options }: Command): string[] {
  return [...options.map(({ flags }) => flags), ...commands.flatMap(flagsOf)];
}

/** A parser that rejects texts with the rule that they break. */
export function accepting(isAccepted: (text: string) => boolean, rule: string) {
  return (text: string) => {
    if (isAccepted(text)) return text;
    throw new InvalidArgumentError(rule);
  };
}

/** A parser of whole numbers within bounds, which it names when it rejects a text. */
export function wholeNumber(least: number, most: number) {
  return (text: string) => {
    const number = Number(text);
    if (/^\d{1,6}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Must be a whole number from ${least} to ${most}.`);
  };
}
