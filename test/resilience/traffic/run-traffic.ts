import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { startStack } from "../../helpers/start-stack.ts";
import { troubles } from "../../helpers/trouble.ts";
import type { ResponseCounts } from "./response-counts.ts";

/**
 * Starts a stack, runs traffic on it, and prints how many responses of each kind came and the first
 * ten problems, those that the stack logged included. The exit code is 1 after any problem, or
 * without any response.
 */
export async function runTraffic(
  send: (stack: LocalStack) => Promise<{ counts: ResponseCounts; wrong: string[] }>,
): Promise<void> {
  const logged: string[] = [];
  const stack = await startStack({ log: (line) => void logged.push(...troubles([line])) });
  try {
    const { counts, wrong } = await send(stack);
    for (const [kind, count] of [...counts].sort()) console.log(`${kind}: ${count}`);
    const problems = [...wrong, ...logged];
    console.log(`${counts.total} responses`);
    console.log(`wrong: ${problems.length}`);
    for (const problem of problems.slice(0, 10)) console.error(problem);
    if (problems.length > 0 || counts.total === 0) process.exitCode = 1;
  } finally {
    await stack.stop();
  }
}
