import type { LocalStack } from "../../../infra/tools/local/local-stack.ts";
import { startStack } from "../../helpers/start-stack.ts";
import { troubles } from "../../helpers/trouble.ts";

/** How many responses of each kind came, like `204` or `404 order_not_found`. */
export class ResponseCounts extends Map<string, number> {
  add({ status, body }: { status: number; body: string }) {
    const code = /^\{"code":"(\w+)"/.exec(body)?.[1];
    const kind = code === undefined ? `${status}` : `${status} ${code}`;
    this.set(kind, (this.get(kind) ?? 0) + 1);
  }

  get total() {
    return this.values().reduce((sum, count) => sum + count, 0);
  }
}

/**
 * Runs traffic on a new stack, and prints the counts and the first ten problems, the stack's log
 * included. The exit code is 1 after any problem, or without any response.
 */
export async function runTraffic(
  send: (stack: LocalStack, counts: ResponseCounts, problems: string[]) => Promise<void>,
) {
  const counts = new ResponseCounts();
  const problems: string[] = [];
  await using cleanup = new AsyncDisposableStack();
  const stack = await startStack(cleanup, {
    log: (line) => void problems.push(...troubles([line])),
  });
  await send(stack, counts, problems);
  for (const [kind, count] of [...counts].sort()) console.log(`${kind}: ${count}`);
  console.log(`${counts.total} responses`);
  console.log(`wrong: ${problems.length}`);
  for (const problem of problems.slice(0, 10)) console.error(problem);
  if (problems.length > 0 || counts.total === 0) process.exitCode = 1;
}
