import { getSystemErrorMessage } from "node:util";
import { runProgram } from "./program.ts";

process.stdout.on("error", ({ code, errno = 0 }: NodeJS.ErrnoException) => {
  // EPIPE: the reader closed the pipe, and wants neither the rest nor an error.
  if (code !== "EPIPE")
    process.stderr.write(`Standard output can't be written: ${getSystemErrorMessage(errno)}\n`);
  process.exit(1);
});

await runProgram(process.argv.slice(2));
