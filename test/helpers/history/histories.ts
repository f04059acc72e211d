import type { Operation, OrderState } from "./contract.ts";
import { OrderHistory } from "./order-history.ts";

/** Stands for the response to a request that failed. It may have taken effect, or may yet. */
const noResponse = "5xx";

/**
 * Records every request of one process for many orders: when it began and ended, its response, and what the order was at
 * the end. All requests begin and end in this process, so their order here is the real one.
 */
export class Histories {
  /** A line for each order whose history the contract does not allow. */
  readonly wrong: string[] = [];
  readonly #initial: OrderState;
  readonly #orders = new Map<string, OrderHistory>();
  #requests = 0;
  #settled = 0;

  /** @param initial what every order is at the start. */
  constructor(initial: OrderState) {
    this.#initial = initial;
  }

  /** The orders whose histories have not ended. */
  get open(): string[] {
    return [...this.#orders.keys()];
  }

  /** How much has been judged, as a sentence. */
  get summary(): string {
    return `${this.#requests} requests in the histories of ${this.#settled} orders; not linearizable: ${this.wrong.length}`;
  }

  /**
   * Sends a request for an order.
   *
   * @param send resolves with the response: its status, and its body, which is empty or an Error record.
   * @throws what `send` throws; its outcome is unknown then.
   */
  async record<Response extends { status: number; body: string }>(
    order: string,
    operation: Operation,
    send: () => Promise<Response>,
  ): Promise<Response> {
    this.#requests += 1;
    const name = `request ${this.#requests}`;
    const history = this.#orders.get(order) ?? new OrderHistory(this.#initial);
    this.#orders.set(order, history);
    history.begin(name, operation);
    try {
      const response = await send();
      history.end(name, nameOf(response));
      return response;
    } catch (error) {
      history.end(name, noResponse);
      throw error;
    }
  }

  /** Ends the history of an order, given what it is at the end. A later request begins another one. */
  settle(order: string, state: OrderState): void {
    const history = this.#orders.get(order);
    history?.read(state);
    if (history?.violation !== undefined) this.wrong.push(`Order ${order}: ${history.violation}`);
    this.#orders.delete(order);
    this.#settled += 1;
  }
}

function nameOf({ status, body }: { status: number; body: string }): string {
  return body === "" ? String(status) : `${status} ${JSON.parse(body).code}`;
}
