/** How many responses of each kind came, like `204` or `404 order_not_found`. */
export class ResponseCounts extends Map<string, number> {
  /** Counts a response by its status and its error code. */
  add({ status, body }: { status: number; body: string }): void {
    const code = /^\{"code":"(\w+)"/.exec(body)?.[1];
    const kind = code === undefined ? `${status}` : `${status} ${code}`;
    this.set(kind, (this.get(kind) ?? 0) + 1);
  }

  get total(): number {
    return this.values().reduce((sum, count) => sum + count, 0);
  }
}
