// Lives the service's life by the blocks of infra/README.md, in an account of AWS on this machine: `npm run rehearse`.
import { readBlocks, runbookText } from "../helpers/runbook.ts";
import { run } from "./shell.ts";
import { setStage } from "./stage.ts";
import { findCommands, life } from "./steps.ts";

const parseOnly = 'aws() { command aws "$@" --generate-cli-skeleton output || kill $$; }\n';

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());
await using started = new AsyncDisposableStack();
try {
  const found = findCommands(readBlocks(runbookText), life);
  const tools = "a clone with its dependencies, the AWS command line, MiniStack";
  console.log(`Set up ${tools}`);
  const shell = await setStage(started, stopped.signal);
  for (const [section, steps] of Object.entries(life)) {
    console.log(`\n${section}`);
    for (const step of steps) {
      const commands = found.get(step) ?? "";
      const [name = ""] = commands.split(/ *(?:#|\\?\n)/);
      if ("skip" in step) {
        console.log(`  not run: \`${name}\`: ${step.because}`);
      } else if ("meanwhile" in step) {
        console.log(`  meanwhile ${step.meanwhile}`);
        await run(shell, step.commands);
      } else if ("parse" in step) {
        console.log(`  parsed: \`${name}\`: ${step.because}`);
        await run(shell, parseOnly + commands);
      } else {
        console.log(`  run: \`${name}\`, then \`${step.check}\``);
        await run(shell, commands, step.check);
      }
    }
  }
  console.log("\nThe runbook keeps its promises here. Not shown: streaming, TLS, alarms, canaries and IAM.");
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
