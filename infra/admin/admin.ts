import { debuglog } from "node:util";
import { createProgram, usageExitCode } from "./command.ts";
import { errorLine } from "./errors.ts";
import { addKeyCommands } from "./key-commands.ts";
import { addOrderCommands } from "./order-commands.ts";

const program = createProgram();
addKeyCommands(program);
addOrderCommands(program);

// The reader closed the pipe, so nobody will see an error message; but the command did not finish.
process.stdout.on("error", () => process.exit(1));

try {
  await program.parseAsync();
} catch (error) {
  const code = usageExitCode(error);
  if (code === undefined) {
    process.stderr.write(`${errorLine(error)}\n`);
    debuglog("admin")("%s", error instanceof Error ? error.stack : error);
  }
  process.exitCode = code ?? 1;
}
