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
  let level: Level = new Map([["", { moment: moves.start(item), interleavings: 1, path: [] }]]);
  while (level.size > 0) {
    found.moments += level.size;
    const next: Level = new Map();
    for (const reached of level.values()) {
      const violation = await follow(moves, reached, next, found);
      if (violation !== undefined) return { ...found, violation };
    }
    level = next;
  }
  return found;
}

/** The moments reached after some number of moves, by their keys. */
type Level = Map<string, Reached>;

/**
 * Adds to the next level whatever one move leads to, and counts what ends here.
 *
 * @returns the moves to a violation of the contract, if one of them is.
 */
async function follow(
  moves: Moves,
  from: Reached,
  next: Level,
  found: Found,
): Promise<readonly Move[] | undefined> {
  const possible = await moves.from(from.moment);
  if (possible.length === 0) found.interleavings += from.interleavings;
  for (const move of possible) {
    if (move.violation !== undefined) return [...from.path, move];
    if (move.tells !== undefined) found.told.add(`${move.actor.name}: ${move.tells}`);
    const key = keyOf(move.moment);
    const known = next.get(key);
    const interleavings = from.interleavings * move.times;
    if (known) known.interleavings += interleavings;
    else next.set(key, { moment: move.moment, interleavings, path: [...from.path, move] });
  }
  return undefined;
}

function keyOf({ item, clients, worlds }: Moment): string {
  return JSON.stringify([item, clients.map((client) => client?.key), worlds.key]);
}
