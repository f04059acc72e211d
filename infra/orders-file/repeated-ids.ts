/** Collects order ids, at eight bytes each, to find those added more than once. */
export class RepeatedIds {
  #ids = new BigInt64Array(4096);
  #count = 0;

  add(id: bigint): void {
    if (this.#count === this.#ids.length) {
      const larger = new BigInt64Array(2 * this.#ids.length);
      larger.set(this.#ids);
      this.#ids = larger;
    }
    this.#ids[this.#count++] = id;
  }

  /** The ids added more than once. Sorts in place, so nothing may be added afterwards. */
  find(): Set<bigint> {
    const sorted = this.#ids.subarray(0, this.#count).sort();
    return new Set(sorted.filter((id, index) => index > 0 && id === sorted[index - 1]));
  }
}
