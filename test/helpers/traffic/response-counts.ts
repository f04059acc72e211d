/** How many responses of each kind were seen: by operation, status and error code. */
export class ResponseCounts {
  readonly #counts = new Map<string, number>();

  /** @param operation like `cancelOrder`. */
  add(operation: string, response: { status: number; body: string } | undefined): void {
    const code = /^\{"code":"(\w+)"/.exec(response?.body ?? "")?.[1];
    const kind = [operation, response?.status ?? "no response", ...(code === undefined ? [] : [code])].join(" ");
    this.#counts.set(kind, this.of(kind) + 1);
  }

  /** @param kind like `listOrders 200` or `cancelOrder 404 order_not_found`. */
  of(kind: string): number {
    return this.#counts.get(kind) ?? 0;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** A line for each kind, like `cancelOrder 204: 17`, in alphabetical order. */
  lines(): string[] {
    return [...this.#counts].map(([kind, count]) => `${kind}: ${count}`).sort();
  }
}
