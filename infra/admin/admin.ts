import { debuglog } from "node:util";
import { createProgram, usageExitCode } from "./command.ts";
import { faultLine } from "./fault-line.ts";
import { addKeyCommands } from "./key-commands.ts";
import { addOrderCommands } from "./order-commands.ts";

const program = createProgram();
addKeyCommands(program);
addOrderCommands(program);

// A reader that has seen enough closes the pipe: nobody is left to tell anything, but it was not done.
process.stdout.on("error", () => process.exit(1));

try {
  await program.parseAsync();
} catch (error) {
  const code = usageExitCode(error);
  if (code === undefined) {
    process.stderr.write(`${faultLine(error)}\n`);
    debuglog("admin")("%s", error instanceof Error ? error.stack : error);
  }
  process.exitCode = code ?? 1;
}
