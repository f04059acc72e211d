const groups = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** A number as people read it: `50,000`. */
export function grouped(count: number): string {
  return groups.format(count);
}

/** `1 order`, `50,000 orders`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}
