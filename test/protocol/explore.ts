import type { OrderItem } from "../../shared/order.ts";
import type { Actor } from "./actors.ts";
import { type Moment, type Move, movesFrom } from "./moves.ts";
import type { RememberedTable } from "./remembered-table.ts";
import { identify } from "./remembering.ts";

interface Found {
  /** How many interleavings there are, and of how many different moments they consist. */
  interleavings: number;
  moments: number;
  /** The fewest moves to a violation of the contract, which is the last one. It ends the search. */
  violation?: readonly Move[];
}

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
export async function explore(
  table: RememberedTable,
  actors: readonly Actor[],
  item: OrderItem | undefined,
): Promise<Found> {
  const found: Found = { interleavings: 0, moments: 0 };
  const moment = { item, clients: actors.map(() => undefined) };
  let level: Level = new Map([["", { moment, interleavings: 1, path: [] }]]);
  while (level.size > 0) {
    found.moments += level.size;
    const next: Level = new Map();
    for (const reached of level.values()) {
      const moves = await Array.fromAsync(movesFrom(table, actors, reached.moment));
      if (moves.length === 0) found.interleavings += reached.interleavings;
      const violation = moves.find((move) => move.violation !== undefined);
      if (violation) return { ...found, violation: [...reached.path, violation] };
      for (const move of moves) follow(move, reached, next);
    }
    level = next;
  }
  return found;
}

/** By the keys of the moments. */
type Level = Map<string, Reached>;

function follow(move: Move, from: Reached, next: Level) {
  const { item, clients } = move.moment;
  const key = identify([
    item,
    ...clients.map((client) => client && Object.values(client)),
  ]);
  const known = next.get(key);
  if (known) known.interleavings += from.interleavings;
  else next.set(key, { ...from, moment: move.moment, path: [...from.path, move] });
}
