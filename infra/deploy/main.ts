import { runDeploy } from "./command.ts";

await runDeploy(process.argv.slice(2));
