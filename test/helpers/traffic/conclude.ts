import type { LocalStack } from "../../../infra/local/local-stack.ts";
import { startStack } from "../start-stack.ts";
import { troubles } from "../trouble.ts";

/** The result of a run of traffic. */
export interface Findings {
  /** The counts and times, a line each. */
  lines: string[];
  /** The mistakes, a line each. */
  wrong: string[];
}

/**
 * Starts a stack, runs traffic on it, and prints the findings with the first ten things that were wrong. Anything wrong,
 * the trouble that the stack logged included, makes the exit code 1.
 */
export async function conclude(run: (stack: LocalStack) => Promise<Findings>): Promise<void> {
  const logged: string[] = [];
  const stack = await startStack({ log: (line) => void logged.push(...troubles([line])) });
  try {
    const found = await run(stack);
    const wrong = [...found.wrong, ...logged];
    for (const line of [...found.lines, `wrong: ${wrong.length}`]) console.log(line);
    for (const problem of wrong.slice(0, 10)) console.error(problem);
    if (wrong.length > 0) process.exitCode = 1;
  } finally {
    await stack.stop();
  }
}
