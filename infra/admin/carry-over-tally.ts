import { type OrderItem, parseOrderId } from "../../shared/order.ts";
import { columns } from "../terminal/text.ts";
import type { Outcome } from "./carry-over-rules.ts";
import type { Result } from "./command.ts";

/** An order that has another final status in the new table than in the old one. */
interface Disagreement {
  id: bigint | string;
  newStatus: string | undefined;
  oldStatus: string | undefined;
}

/** Counts the outcomes of carrying items over, and reports them. */
export class Tally {
  readonly #counts: Map<Outcome, number>;
  /** Cancellations by the key that made them. */
  readonly #cancelledBy = new Map<string, number>();
  readonly #disagreements: Disagreement[] = [];

  constructor(outcomes: readonly Outcome[]) {
    this.#counts = new Map(outcomes.map((outcome) => [outcome, 0]));
  }

  /** Counts the outcomes of an item of the old table; `current` is the new table's, if any. */
  add(outcomes: Outcome[], old: OrderItem, current: OrderItem | undefined): void {
    for (const outcome of outcomes) countOne(this.#counts, outcome);
    if (outcomes.includes("cancelled")) {
      countOne(this.#cancelledBy, old["cancelledBy"]?.S ?? "no key");
    }
    if (!outcomes.includes("disagreeing")) return;
    const id = old["id"]?.N ?? "";
    this.#disagreements.push({
      // Another team may have placed an order whose id no client can name.
      id: parseOrderId(id) ?? id,
      newStatus: current?.["status"]?.S,
      oldStatus: old["status"]?.S,
    });
  }

  /**
   * The result of carrying over to a table.
   *
   * @param reason why it stopped early, if it did.
   */
  result(to: string, dryRun: boolean, reason: string | undefined): Result {
    const complete = reason === undefined;
    const hasBegun = this.#counts.values().some((count) => count > 0);
    // Only orders can be cancelled.
    const orderDetails = this.#counts.has("cancelled") && {
      cancelledBy: Object.fromEntries(this.#cancelledBy),
      disagreements: this.#disagreements,
    };
    return {
      text: complete || hasBegun ? this.#text(to, dryRun, complete) : "",
      json: { to, dryRun, complete, ...Object.fromEntries(this.#counts), ...orderDetails },
      note: complete ? undefined : `${reason}. The rest is not carried over yet.`,
      rejected: !complete || this.#disagreements.length > 0,
    };
  }

  #text(to: string, dryRun: boolean, complete: boolean): string {
    const verb = dryRun ? "Would carry over" : "Carried over";
    const end = complete ? "" : ", then stopped";
    const counts = [...this.#counts].map(
      ([outcome, count]) => `${count} ${outcome.replace(/[A-Z]/g, " $&").toLowerCase()}`,
    );
    const lines = [`${verb} to ${to}${end}: ${counts.join(", ")}`];
    for (const { id, newStatus, oldStatus } of this.#disagreements) {
      const status = newStatus === undefined ? "has no status" : `is ${newStatus}`;
      lines.push(`Order ${id} ${status}, but ${oldStatus} in the old table`);
    }
    const byKey = [...this.#cancelledBy].map(([keyId, orders]) => [keyId, String(orders)]);
    if (byKey.length > 0) lines.push(columns([["CANCELLED BY", "ORDERS"], ...byKey]));
    return lines.join("\n");
  }
}

function countOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
