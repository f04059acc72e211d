/** A line about a check: what it checks and, unless that is all, what it saw. */
export interface Line {
  kind: "pass" | "FAIL" | "seen" | "skipped" | "waiting";
  text: string;
}

/** Prints each line when it comes, then how many checks passed and failed. The exit code is 1 when one failed. */
export async function report(lines: AsyncIterable<Line>): Promise<void> {
  const seen: Line["kind"][] = [];
  for await (const { kind, text } of lines) {
    seen.push(kind);
    console.log(`${kind.padEnd(9)}${text}`);
  }
  const count = (wanted: Line["kind"]): number => seen.filter((kind) => kind === wanted).length;
  console.log(`${count("pass")} passed, ${count("FAIL")} failed`);
  process.exitCode = count("FAIL") === 0 ? 0 : 1;
}
