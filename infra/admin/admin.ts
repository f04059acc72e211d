import { debuglog, getSystemErrorMessage } from "node:util";
import { CommanderError } from "commander";
import { createProgram } from "./command.ts";
import { errorLine } from "./errors.ts";
import { addKeyCommands } from "./key-commands.ts";
import { addOrderCommands } from "./order-commands.ts";

const program = createProgram();
addKeyCommands(program);
addOrderCommands(program);

process.stdout.on("error", ({ code, errno = 0 }: NodeJS.ErrnoException) => {
  // The reader has closed the pipe, so no one is left to tell.
  if (code !== "EPIPE") process.stderr.write(`Standard output can't be written: ${getSystemErrorMessage(errno)}\n`);
  process.exit(1);
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode);
  process.stderr.write(`${errorLine(error)}\n`);
  debuglog("admin")("%s", error instanceof Error ? error.stack : error);
  process.exitCode = 1;
}
