import { type Command, CommanderError, Option } from "commander";
import { environments } from "../environments.ts";
import { errorText, isOutputError } from "../terminal/errors.ts";
import { Script } from "../terminal/script.ts";
import { addKeyCommands, addOrderCommands } from "./commands.ts";

/** The operators' command line. Wrong use at any level prints one line and exits with 2. */
export function createProgram(): Command {
  const program = new Script("npm run admin --")
    .description("Manages API keys and orders. For operators; not part of the HTTP API.")
    .addOption(
      new Option(
        "--env <name>",
        "work on this deployed environment, with your own AWS credentials",
      )
        .choices(Object.keys(environments))
        .conflicts("local"),
    )
    .option("--local", "work on the running `npm start`")
    .option("--json", "print JSON, for scripts")
    .showHelpAfterError("(see --help)")
    .exitOverride();
  addKeyCommands(program);
  addOrderCommands(program);
  return program;
}

/** Runs the command line with these arguments, and sets the exit code. */
export async function runProgram(args: string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: "user" });
  } catch (error) {
    const isWrongUse = error instanceof CommanderError;
    // commander exits with 1 for wrong use, and with 0 after its help.
    process.exitCode = isWrongUse ? error.exitCode && 2 : 1;
    // The reader of a closed pipe wants neither the rest nor an error.
    const isClosedPipe = isOutputError(error) && Object(error).code === "EPIPE";
    if (!isWrongUse && !isClosedPipe) process.stderr.write(`${errorText(error)}\n`);
  }
}
