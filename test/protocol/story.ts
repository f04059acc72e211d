import type { OrderState } from "./contract.ts";
import type { Path } from "./explore.ts";
import { stateOf } from "./starts.ts";

/** An interleaving in words, a line for each move. */
export function story(start: OrderState, path: Path): string {
  const attempts = new Map<string, number>();
  let before = start;
  const lines = path.map(({ actor: { name, operation }, fate, tells, violation, moment }) => {
    const attempt = (attempts.get(name) ?? 0) + 1;
    if (fate !== undefined) attempts.set(name, attempt);
    const state = stateOf(moment.item);
    const parts = [
      operation.kind === "ship"
        ? "the shipper ships"
        : fate === undefined
          ? `a late copy from ${name} arrives`
          : `${name}, attempt ${attempt}: ${fate.name}`,
      state === before ? [] : `the order is ${state}`,
      tells === undefined || operation.kind === "ship" ? [] : `${name} gets ${tells}`,
    ];
    before = state;
    return [parts.flat().join("; "), violation === undefined ? [] : `WRONG: ${violation}`].flat();
  });
  return [`the order is ${start}`, ...lines.flat()].map((line) => `  ${line}`).join("\n");
}
