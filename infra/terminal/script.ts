import { Command, Help, type Option, type ParseOptions } from "commander";
import { withoutKeys } from "../../shared/api-keys.ts";
import { adviceOnNpm } from "./npm-options.ts";
import { printable } from "./printable.ts";

/**
 * The command line of an npm script. Wrong use exits with 2 and prints one line that is safe for a
 * terminal, with keys cut short.
 */
export class Script extends Command {
  /** @param usage like `npm run smoke --`. */
  constructor(usage: string) {
    super(usage);
    this.configureHelp({ showGlobalOptions: true, optionDescription })
      .configureOutput({
        outputError: (text, write) => {
          // commander echoes arguments unescaped, also what may be a part of a key.
          const lines = withoutKeys(text.split("\n").map(printable).join("\n"));
          write(
            lines
              .replaceAll(/(?!\d+\b)[0-9A-Za-z]{20,}/g, "...")
              .replace(/^error: command-argument value/, "error:"),
          );
        },
      })
      .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  }

  override createCommand(name?: string): Command {
    return new Command(name);
  }

  override parse(argv: readonly string[] = process.argv, options?: ParseOptions): this {
    this.#rejectOptionsOfNpm(argv, options);
    return super.parse(argv, options);
  }

  override parseAsync(
    argv: readonly string[] = process.argv,
    options?: ParseOptions,
  ): Promise<this> {
    this.#rejectOptionsOfNpm(argv, options);
    return super.parseAsync(argv, options);
  }

  #rejectOptionsOfNpm(argv: readonly string[], options?: ParseOptions): void {
    const words = options?.from === "user" ? argv : argv.slice(2);
    const advice = adviceOnNpm(optionsFor(this, words), words);
    if (advice !== undefined) this.error(advice);
  }
}

const help = new Help();

/** An option's description in a command's help, which by itself doesn't say "(required)". */
function optionDescription(option: Option): string {
  const description = help.optionDescription(option);
  return option.mandatory ? `${description} (required)` : description;
}

/** The options of a command, and those of the subcommands that the words name. */
function optionsFor(command: Command, [word, ...words]: readonly string[]): Command["options"] {
  const named = command.commands.find((other) => other.name() === word);
  return [...command.options, ...(named ? optionsFor(named, words) : [])];
}
