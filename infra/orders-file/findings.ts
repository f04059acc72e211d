import { grouped, printable } from "../terminal/text.ts";

const keptOfKind = 20;

/** Collects what to report: the first twenty findings of each kind, and how many there are. */
export class Findings<Finding> {
  readonly first: Finding[] = [];
  count = 0;
  readonly #counts = new Map<string, number>();

  add(kind: string, finding: Finding): void {
    this.count++;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count <= keptOfKind) this.first.push(finding);
  }

  /** A line for each kind with more than twenty, like `and 80 more: not JSON`. */
  get more(): string[] {
    return [...this.#counts].flatMap(([kind, count]) =>
      count > keptOfKind ? [`and ${grouped(count - keptOfKind)} more: ${kind}`] : [],
    );
  }
}

/** What is wrong with a line of a file, from 1. */
export interface BadLine {
  line: number;
  problems: string[];
}

/** Sorts findings by their lines. Returns a text for each, and one for each kind with more. */
export function fileReport(name: string, { first, more }: Findings<BadLine>): string[] {
  first.sort((a, b) => a.line - b.line);
  return [
    ...first.map(({ line, problems }) => `${name}:${line}: ${problems.join("; ")}`),
    ...more,
  ].map(printable);
}
