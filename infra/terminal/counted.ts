const numbers = new Intl.NumberFormat("en-US");

/** A number as people read it: `50,000`. */
export function grouped(count: number): string {
  return numbers.format(count);
}

/** `1 order`, `50,000 orders`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `2 written, 1 already there`, of counts by their names. */
export function countsText(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(
    ([name, count]) => `${grouped(count)} ${words(name)}`,
  );
  return parts.join(", ");
}

/** `already there`, of `alreadyThere` or `already_there`. */
export function words(name: string): string {
  return name.replace(/_|(?=[A-Z])/g, " ").toLowerCase();
}
