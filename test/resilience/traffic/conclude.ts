import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { startStack } from "../../helpers/start-stack.ts";
import { troubles } from "../../helpers/trouble.ts";
import type { ResponseCounts } from "./response-counts.ts";

/**
 * Starts a stack, runs traffic on it, and prints how many responses of each kind it saw and the
 * first ten things that were wrong. Anything wrong, the trouble that the stack logged included,
 * makes the exit code 1, and so does no response.
 */
export async function conclude(
  run: (stack: LocalStack) => Promise<{ counts: ResponseCounts; wrong: string[] }>,
): Promise<void> {
  const logged: string[] = [];
  const stack = await startStack({ log: (line) => void logged.push(...troubles([line])) });
  try {
    const { counts, wrong } = await run(stack);
    for (const [kind, count] of [...counts].sort()) console.log(`${kind}: ${count}`);
    const problems = [...wrong, ...logged];
    console.log(`${counts.total} responses\nwrong: ${problems.length}`);
    for (const problem of problems.slice(0, 10)) console.error(problem);
    if (problems.length > 0 || counts.total === 0) process.exitCode = 1;
  } finally {
    await stack.stop();
  }
}
