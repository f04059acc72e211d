import { runProgram } from "./program.ts";

// Each write to standard output handles its own failure.
process.stdout.on("error", () => {});

await runProgram(process.argv.slice(2));
