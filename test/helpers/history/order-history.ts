import type { Operation, OrderState } from "./contract.ts";
import { Worlds } from "./worlds.ts";

/** The history of one order, checked against the contract as it grows. Its events come in the order they happen. */
export class OrderHistory {
  #worlds: Worlds;
  #violation: string | undefined;

  /** @param initial what the order is before the first event. */
  constructor(initial: OrderState) {
    this.#worlds = Worlds.startingAs(initial);
  }

  /** The first event that the contract does not allow, and what it does allow; undefined if there is none. */
  get violation(): string | undefined {
    return this.#violation;
  }

  /** @param name unique among the requests for this order. */
  begin(name: string, operation: Operation): void {
    this.#worlds = this.#worlds.begin(name, operation);
  }

  /** @param response as `perform` names it: `204`, or the status and code of an error. */
  end(name: string, response: string): void {
    const allowed = this.#worlds.responses(name);
    this.#go(this.#worlds.end(name, response), `${name} gets ${response}`, allowed);
  }

  /** An observer reads the order. */
  read(state: OrderState): void {
    this.#go(this.#worlds.see(state), `the order is ${state}`, this.#worlds.states());
  }

  #go(worlds: Worlds, what: string, allowed: string[]): void {
    this.#worlds = worlds;
    if (worlds.none) this.#violation ??= `${what}; by the contract it is ${allowed.join(" or ")}`;
  }
}
