import { grouped } from "../terminal/counted.ts";

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
