import { createProgram } from "./program.ts";

// Each write to standard output handles its own failure.
process.stdout.on("error", () => {});

await createProgram().run(process.argv.slice(2));
