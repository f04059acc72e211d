/** Prints each problem on standard error. Any problem makes the exit code 1. */
export function failWith(problems: string[]): void {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
