import { Findings } from "../orders-file/findings.ts";
import { countsText, grouped, words } from "../terminal/counted.ts";
import { printable } from "../terminal/printable.ts";
import { columns } from "../terminal/text.ts";
import type { Result, Session } from "./command.ts";
import type { Outcome } from "./repair-rules.ts";

/** What became of an item. */
export interface RepairedItem {
  id: bigint | string;
  outcome: Outcome;
  /** Its status in the live table. */
  status: string | undefined;
  /** Its status in the copy. */
  was: string | undefined;
  /** The attributes in which it differed from the copy's. */
  differing?: string[] | undefined;
}

/** The lines about items that were left as they are, but may be wrong. */
const explanations: Partial<Record<Outcome, (item: RepairedItem) => string>> = {
  contradictory: ({ id, status, was }) => `${id} is ${status}, but was ${was}`,
  onlyLive: ({ id }) => `${id} is only in the live table`,
  inNeither: ({ id }) => `${id} is in neither table`,
};

/** Reports what became of the items of a repair: those that were put back or may be wrong. */
export class RepairReport {
  readonly #session: Pick<Session, "asJson" | "print">;
  /** How many items differed in an attribute. */
  readonly #fields = new Map<string, number>();
  readonly #explained = new Findings<string>();

  constructor(session: Pick<Session, "asJson" | "print">) {
    this.#session = session;
  }

  /** Prints the id of an item that was put back; as JSON all of it, also if it may be wrong. */
  add({ differing = [], ...item }: RepairedItem): void {
    for (const name of differing) this.#fields.set(name, (this.#fields.get(name) ?? 0) + 1);
    const explanation = explanations[item.outcome]?.(item);
    if (explanation) this.#explained.add(words(item.outcome), printable(explanation));
    const isWritten = item.outcome === "placed" || item.outcome === "mended";
    if (isWritten || (explanation && this.#session.asJson))
      this.#session.print(String(item.id), item);
  }

  /**
   * The result of repairing a table.
   *
   * @param reason why it stopped early, if it did.
   */
  result(
    table: string,
    dryRun: boolean,
    counts: Record<Outcome, number>,
    reason: string | undefined,
  ): Result {
    const fields = [...this.#fields].map(([name, count]) => [name, grouped(count)]).sort();
    const hasBegun = Object.values(counts).some((count) => count > 0);
    const lines = [
      ...(reason === undefined || hasBegun
        ? [`${dryRun ? "Would repair" : "Repaired"} ${table}: ${countsText(counts)}`]
        : []),
      ...this.#explained.first,
      ...this.#explained.more,
      ...(fields.length > 0 ? [columns([["FIELD", "DIFFERED IN"], ...fields])] : []),
      ...(reason === undefined ? [] : [`${reason}. Run it again to repair the rest.`]),
    ];
    return {
      json: {
        table,
        dryRun,
        complete: reason === undefined,
        ...counts,
        fields: Object.fromEntries(this.#fields),
      },
      note: lines.join("\n"),
      rejected: reason !== undefined || counts.contradictory + counts.inNeither > 0,
    };
  }
}
