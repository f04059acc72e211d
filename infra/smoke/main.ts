import { createSmokeCommand } from "./command.ts";

await createSmokeCommand().parseAsync();
