import type { OrderItem } from "../../shared/order.ts";
import type { Moment, Move, Moves } from "./moves.ts";

/** The result of a search. */
interface Found {
  /** How many interleavings there are, and of how many different moments they consist. */
  interleavings: number;
  moments: number;
  /** The responses that the actors gave their clients. */
  told: Set<string>;
  /**
   * The moves of the shortest interleaving whose last one the contract does not allow. The search
   * ends with it.
   */
  violation?: readonly Move[];
}

/** Interleavings that have come to the same moment. */
interface Reached {
  moment: Moment;
  interleavings: number;
  /** The moves of one of them. */
  path: readonly Move[];
}

/**
 * Searches all interleavings from one start. Those that come to the same moment are followed from
 * there as one, and counted as many: what comes after a moment depends on nothing that was before
 * it.
 */
export async function explore(moves: Moves, item: OrderItem | undefined): Promise<Found> {
  const found: Found = { interleavings: 0, moments: 0, told: new Set() };
  let level = new Map<string, Reached>([
    ["", { moment: moves.start(item), interleavings: 1, path: [] }],
  ]);
  while (level.size > 0) {
    const next: typeof level = new Map();
    found.moments += level.size;
    for (const { moment, interleavings, path } of level.values()) {
      const possible = await moves.from(moment);
      if (possible.length === 0) found.interleavings += interleavings;
      for (const move of possible) {
        if (move.violation !== undefined) return { ...found, violation: [...path, move] };
        if (move.tells !== undefined) found.told.add(`${move.actor.name}: ${move.tells}`);
        const key = keyOf(move.moment);
        const reached = next.get(key) ?? {
          moment: move.moment,
          interleavings: 0,
          path: [...path, move],
        };
        reached.interleavings += interleavings * move.times;
        next.set(key, reached);
      }
    }
    level = next;
  }
  return found;
}

function keyOf({ item, clients, worlds }: Moment): string {
  return JSON.stringify([item, clients.map((client) => client?.key), worlds.key]);
}
