/** Collects order ids, at eight bytes each, to say which came more than once. */
export class RepeatedIds {
  private ids = new BigInt64Array(4096);
  private count = 0;

  add(id: bigint): void {
    if (this.count === this.ids.length) {
      const larger = new BigInt64Array(2 * this.ids.length);
      larger.set(this.ids);
      this.ids = larger;
    }
    this.ids[this.count++] = id;
  }

  /** The ids that were added more than once. Nothing can be added after it. */
  find(): Set<bigint> {
    const sorted = this.ids.subarray(0, this.count).sort();
    return new Set(sorted.filter((id, index) => index > 0 && id === sorted[index - 1]));
  }
}
