// Imported first by programs that Node.js runs: what ends one is said in a line.
import { errorText } from "./errors.ts";

process.on("uncaughtException", (error) => {
  process.stderr.write(`${errorText(error)}\n`);
  process.exit(process.exitCode || 1);
});
