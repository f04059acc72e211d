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
const explanations: Record<string, (item: RepairedItem) => string> = {
  contradictory: ({ id, status, was }) => `${id} is ${status}, but was ${was}`,
  onlyLive: ({ id }) => `${id} is only in the live table`,
  inNeither: ({ id }) => `${id} is in neither table`,
};

/** The items of a repair that may be wrong, and how many items differed in an attribute. */
export class RepairReport extends Findings<RepairedItem> {
  readonly #fields = new Map<string, number>();

  /** Prints the id of an item that was put back; as JSON all of it, also if it may be wrong. */
  addItem({ differing = [], ...item }: RepairedItem, session: Session): void {
    for (const name of differing) this.#fields.set(name, (this.#fields.get(name) ?? 0) + 1);
    const isDoubtful = item.outcome in explanations;
    if (isDoubtful) this.add(words(item.outcome), item);
    const isWritten = item.outcome === "placed" || item.outcome === "mended";
    if (isWritten || (isDoubtful && session.asJson)) session.print(String(item.id), item);
  }

  /**
   * The result of repairing a table.
   *
   * @param reason why it stopped early, if it did.
   */
  result(
    { live: table, dryRun }: { live: string; dryRun: boolean },
    counts: Record<Outcome, number>,
    done: number,
    reason: string | undefined,
  ): Result {
    const fields = [...this.#fields].map(([name, count]) => [name, grouped(count)]).sort();
    // In this order, whichever came first.
    const doubtful = Object.entries(explanations).flatMap(([outcome, explain]) =>
      this.first.filter((item) => item.outcome === outcome).map(explain),
    );
    const summary = `${dryRun ? "Would repair" : "Repaired"} ${table}: ${countsText(counts)}`;
    return {
      json: {
        table,
        dryRun,
        complete: reason === undefined,
        ...counts,
        fields: Object.fromEntries(this.#fields),
      },
      notes: [
        reason === undefined || done > 0 ? summary : undefined,
        ...doubtful.map(printable),
        ...this.more,
        fields.length > 0 ? columns([["FIELD", "DIFFERED IN"], ...fields]) : undefined,
        reason && `${reason}. Run it again to repair the rest.`,
      ],
      rejected: reason !== undefined || counts.contradictory + counts.inNeither > 0,
    };
  }
}
