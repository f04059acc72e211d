import type { OrderItem } from "../../shared/order.ts";
import type { Moment, Move, Moves } from "./moves.ts";

/** The result of a search. */
export interface Found {
  /** How many interleavings there are. */
  interleavings: number;
  /** How many different moments they consist of. */
  moments: number;
  /** The responses that the actors gave their clients. */
  told: Set<string>;
  /** The violations of the contract; an interleaving ends with its first. */
  violations: Set<string>;
}

/** The moves of one interleaving, the first one first. */
export type Path = readonly Move[];

/**
 * Searches all interleavings from one start. Those that come to the same moment are followed from there as one, and
 * counted as many: what comes after a moment depends on nothing that was before it.
 */
export async function exploreAll(moves: Moves, item: OrderItem | undefined): Promise<Found> {
  const found: Found = { interleavings: 0, moments: 0, told: new Set(), violations: new Set() };
  let level = new Map([["", { moment: moves.start(item), paths: 1 }]]);
  while (level.size > 0) {
    const next: typeof level = new Map();
    found.moments += level.size;
    for (const { moment, paths } of level.values()) {
      const possible = await moves.from(moment);
      if (possible.length === 0) found.interleavings += paths;
      for (const move of possible) {
        if (move.tells !== undefined) found.told.add(`${move.actor.name}: ${move.tells}`);
        if (move.violation === undefined) add(next, move.moment, paths * move.times);
        else {
          found.violations.add(move.violation);
          found.interleavings += paths * move.times;
        }
      }
    }
    level = next;
  }
  return found;
}

/** Follows every interleaving from a moment by itself, to the end, and adds what it finds. */
export async function followEach(moves: Moves, moment: Moment, found: Found): Promise<Found> {
  found.moments += 1;
  const possible = await moves.from(moment);
  if (possible.length === 0) found.interleavings += 1;
  for (const move of possible) {
    if (move.tells !== undefined) found.told.add(`${move.actor.name}: ${move.tells}`);
    for (let time = 0; time < move.times; time += 1) {
      if (move.violation === undefined) await followEach(moves, move.moment, found);
      else {
        found.violations.add(move.violation);
        found.interleavings += 1;
      }
    }
  }
  return found;
}

/** The shortest interleaving whose last move the contract does not allow; undefined when there is none. */
export async function shortestViolation(moves: Moves, item: OrderItem | undefined): Promise<Path | undefined> {
  let level = new Map<string, { moment: Moment; path: Path }>([["", { moment: moves.start(item), path: [] }]]);
  while (level.size > 0) {
    const next: typeof level = new Map();
    for (const { moment, path } of level.values()) {
      for (const move of await moves.from(moment)) {
        if (move.violation !== undefined) return [...path, move];
        next.set(keyOf(move.moment), { moment: move.moment, path: [...path, move] });
      }
    }
    level = next;
  }
  return undefined;
}

function add(level: Map<string, { moment: Moment; paths: number }>, moment: Moment, paths: number): void {
  const key = keyOf(moment);
  const known = level.get(key);
  if (known === undefined) level.set(key, { moment, paths });
  else known.paths += paths;
}

function keyOf({ item, clients, worlds }: Moment): string {
  return JSON.stringify([item, clients.map((client) => client?.key), worlds.key]);
}
