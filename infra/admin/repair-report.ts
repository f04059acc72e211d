import { Findings } from "../orders-file/findings.ts";
import { grouped } from "../terminal/counted.ts";
import { jsonText, printable } from "../terminal/printable.ts";
import { columns } from "../terminal/text.ts";
import type { Result } from "./command.ts";
import { type Outcome, outcomes } from "./repair-rules.ts";

/** What became of an item. */
export interface RepairedItem {
  id: bigint | string;
  outcome: Outcome;
  /** Its status in the live table. */
  status?: string | undefined;
  /** Its status in the copy. */
  was?: string | undefined;
}

/** The lines about items that were left as they are, but may be wrong. */
const explanations: Partial<Record<Outcome, (item: RepairedItem) => string>> = {
  contradictory: ({ id, status, was }) => `${id} is ${status}, but was ${was}`,
  onlyLive: ({ id }) => `${id} is only in the live table`,
  inNeither: ({ id }) => `${id} is in neither table`,
};

/**
 * Counts what became of the items of a repair. Prints at once the id of each that was placed or
 * mended; as JSON each of them, and each that may be wrong.
 */
export class RepairReport {
  total = 0;
  readonly #asJson: boolean;
  readonly #print: (line: string) => void;
  readonly #counts = new Map<Outcome, number>(outcomes.map((outcome) => [outcome, 0]));
  /** Items of which both tables have one status, by the attributes in which they differ. */
  readonly #fields = new Map<string, number>();
  readonly #explained = new Map<Outcome, Findings<string>>();

  /** @param print prints a line on standard output. */
  constructor(asJson: boolean, print: (line: string) => void) {
    this.#asJson = asJson;
    this.#print = print;
  }

  /** @param differing the attributes in which it differed from the copy's. */
  add(item: RepairedItem, differing: string[] = []): void {
    this.total++;
    countOne(this.#counts, item.outcome);
    for (const name of differing) countOne(this.#fields, name);
    const isWritten = item.outcome === "placed" || item.outcome === "mended";
    const explain = explanations[item.outcome];
    if (explain) this.#explain(item.outcome, printable(explain(item)));
    if (this.#asJson && (isWritten || explain)) this.#print(jsonText(item));
    if (!this.#asJson && isWritten) this.#print(printable(String(item.id)));
  }

  #explain(outcome: Outcome, line: string): void {
    const findings = this.#explained.get(outcome) ?? new Findings<string>();
    findings.add(label(outcome), line);
    this.#explained.set(outcome, findings);
  }

  /**
   * The result of repairing a table.
   *
   * @param reason why it stopped early, if it did.
   */
  result(table: string, dryRun: boolean, reason: string | undefined): Result {
    const counts = [...this.#counts].map(
      ([outcome, count]) => `${grouped(count)} ${label(outcome)}`,
    );
    const fields = [...this.#fields].map(([name, count]) => [name, grouped(count)]).sort();
    const hasBegun = reason === undefined || this.total > 0;
    const lines = [
      ...(hasBegun
        ? [`${dryRun ? "Would repair" : "Repaired"} ${table}: ${counts.join(", ")}`]
        : []),
      ...outcomes.flatMap((outcome) => {
        const { first = [], more = [] } = this.#explained.get(outcome) ?? {};
        return [...first, ...more];
      }),
      ...(fields.length > 0 ? [columns([["FIELD", "DIFFERED IN"], ...fields])] : []),
      ...(reason === undefined ? [] : [`${reason}. Run it again to repair the rest.`]),
    ];
    const wrong = ["contradictory", "inNeither"] as const;
    return {
      json: {
        table,
        dryRun,
        complete: reason === undefined,
        ...Object.fromEntries(this.#counts),
        fields: Object.fromEntries(this.#fields),
      },
      note: lines.join("\n"),
      rejected: reason !== undefined || wrong.some((outcome) => this.#counts.get(outcome)),
    };
  }
}

/** `changedSince` as `changed since`. */
function label(outcome: Outcome): string {
  return outcome.replace(/[A-Z]/g, " $&").toLowerCase();
}

function countOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
