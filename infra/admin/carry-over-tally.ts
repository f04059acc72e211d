import { type OrderItem, parseOrderId } from "../../shared/order.ts";
import { columns } from "../terminal/text.ts";
import type { Outcome } from "./carry-over-rules.ts";
import type { Result } from "./command.ts";

/** An order with one status here, in the new table, and another there, in the old one. */
interface Disagreement {
  id: bigint | string;
  here: string | undefined;
  there: string | undefined;
}

/** Counts what was carried over, and tells it. */
export class Tally {
  readonly #counts: Map<Outcome, number>;
  /** Cancellations by the key that made them. */
  readonly #cancelledBy = new Map<string, number>();
  readonly #disagreements: Disagreement[] = [];

  constructor(outcomes: readonly Outcome[]) {
    this.#counts = new Map(outcomes.map((outcome) => [outcome, 0]));
  }

  /** Adds what came of an item of the old table; `current` is the new table's. */
  add(outcomes: Outcome[], old: OrderItem, current: OrderItem | undefined): void {
    for (const outcome of outcomes) countOne(this.#counts, outcome);
    if (outcomes.includes("cancelled")) {
      countOne(this.#cancelledBy, old["cancelledBy"]?.S ?? "no key");
    }
    if (!outcomes.includes("disagreeing")) return;
    const { N: id = "" } = old["id"] ?? {};
    // Another team may have placed an order whose id no client can name.
    const exact = parseOrderId(id) ?? id;
    const here = current?.["status"]?.S;
    this.#disagreements.push({ id: exact, here, there: old["status"]?.S });
  }

  /**
   * The result of carrying over to a table.
   *
   * @param reason why it did not get to the end, if it did not.
   */
  result(to: string, dryRun: boolean, reason: string | undefined): Result {
    const complete = reason === undefined;
    const hasBegun = this.#counts.values().some((count) => count > 0);
    const ofOrders = this.#counts.has("cancelled") && {
      cancelledBy: Object.fromEntries(this.#cancelledBy),
      disagreements: this.#disagreements,
    };
    return {
      text: complete || hasBegun ? this.#text(to, dryRun, complete) : "",
      json: { to, dryRun, complete, ...Object.fromEntries(this.#counts), ...ofOrders },
      ...(!complete && { note: `${reason}. The rest is not carried over yet.` }),
      rejected: !complete || this.#disagreements.length > 0,
    };
  }

  #text(to: string, dryRun: boolean, complete: boolean): string {
    const verb = dryRun ? "Would carry over" : "Carried over";
    const end = complete ? "" : ", then stopped";
    const counts = [...this.#counts].map(
      ([outcome, count]) => `${count} ${outcome.replace(/[A-Z]/g, " $&").toLowerCase()}`,
    );
    const disagreements = this.#disagreements.map(({ id, here, there }) => {
      const status = here === undefined ? "has no status" : `is ${here}`;
      return `Order ${id} ${status}, but ${there} in the old table`;
    });
    const byKey = [...this.#cancelledBy].map(([keyId, orders]) => [keyId, String(orders)]);
    const table = byKey.length > 0 ? [columns([["CANCELLED BY", "ORDERS"], ...byKey])] : [];
    return [`${verb} to ${to}${end}: ${counts.join(", ")}`, ...disagreements, ...table].join("\n");
  }
}

function countOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
