import type { OrderItem } from "../../shared/order.ts";
import type { Moment, Move, Moves } from "./moves.ts";

/** The result of a search. */
interface Found {
  /** How many interleavings there are, and of how many different moments they consist. */
  interleavings: number;
  moments: number;
  /** The responses that the actors gave their clients, like `A: 204`. */
  responses: Set<string>;
  /** The fewest moves to a violation of the contract, which is the last one. It ends the search. */
  violation?: readonly Move[];
}

/** Interleavings that have reached the same moment. */
interface Reached {
  moment: Moment;
  interleavings: number;
  /** The moves of one of them. */
  path: readonly Move[];
}

/**
 * Searches all interleavings from one start. Those that reach the same moment are followed from
 * there as one, and counted as many: what follows a moment does not depend on how it was reached.
 */
export async function explore(moves: Moves, item: OrderItem | undefined): Promise<Found> {
  const found: Found = { interleavings: 0, moments: 0, responses: new Set() };
  const start: Reached = { moment: moves.start(item), interleavings: 1, path: [] };
  let level: Level = new Map([["", start]]);
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

/** The moments that are reached after the same number of moves, by their keys. */
type Level = Map<string, Reached>;

/**
 * Adds the moments one move further to the next level, and counts the interleavings that end here.
 *
 * @returns the moves up to and including a violation of the contract, if there is one.
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
    if (move.responds !== undefined)
      found.responses.add(`${move.actor.name}: ${move.responds}`);
    const key = keyOf(move.moment);
    const known = next.get(key);
    const interleavings = from.interleavings * move.times;
    if (known === undefined)
      next.set(key, { moment: move.moment, interleavings, path: [...from.path, move] });
    else known.interleavings += interleavings;
  }
  return undefined;
}

function keyOf({ item, clients, worlds }: Moment): string {
  return JSON.stringify([item, clients.map((client) => client?.key), worlds.key]);
}
