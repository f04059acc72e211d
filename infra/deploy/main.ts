import { createDeployProgram } from "./command.ts";

try {
  await createDeployProgram().parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
