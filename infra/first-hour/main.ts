import { errorLine } from "../admin/errors.ts";
import { createFirstHourCommand } from "./command.ts";

const done = createFirstHourCommand().parseAsync();
await done.catch((error: unknown) => {
  process.stderr.write(`${errorLine(error)}\n`);
  process.exitCode = 1;
});
// What was interrupted may still be going on.
process.exit();
