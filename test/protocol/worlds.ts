import { claimsNothing, type Operation, type OrderState, perform } from "./contract.ts";

/** One explanation of everything that has been seen so far. */
interface World {
  /** Equal for equal worlds. */
  key: string;
  state: OrderState;
  /** The operations that have not taken effect yet, by name. */
  waiting: ReadonlyMap<string, Waiting>;
  /** The responses that the other operations' clients must get, by name. */
  due: ReadonlyMap<string, string>;
}

interface Waiting {
  operation: Operation;
  /** Its client got a response that claims nothing: it may take effect later, or never. */
  leftOpen: boolean;
}

/**
 * Every world that explains what has been seen of one order. An operation takes effect at one
 * moment between its beginning and its end; if its response claims nothing, at any moment after its
 * beginning, or never. As long as one world is left, what has been seen is linearizable.
 */
export class Worlds {
  /** Equal for equal sets of worlds. */
  readonly key: string;
  readonly #worlds: ReadonlyMap<string, World>;
  /** Every Worlds reached from this start, by key. */
  readonly #known: Map<string, Worlds>;
  /** Memoised transitions, by event. */
  readonly #next = new Map<string, Worlds>();

  private constructor(worlds: Iterable<World>, known = new Map<string, Worlds>()) {
    this.#worlds = new Map(Array.from(worlds, (world) => [world.key, world]));
    this.key = [...this.#worlds.keys()].sort().join("\n");
    this.#known = known;
  }

  static startingAs(state: OrderState): Worlds {
    return new Worlds([newWorld(state, new Map(), new Map())]);
  }

  /** Whether no world explains what has been seen. */
  get none(): boolean {
    return this.#worlds.size === 0;
  }

  /** The states in which the order may be now. */
  states(): OrderState[] {
    return [...new Set(this.#after().map(({ state }) => state))].sort();
  }

  /** The responses that an operation's client may get now, besides those that claim nothing. */
  responses(name: string): string[] {
    return [...new Set(this.#after().flatMap(({ due }) => due.get(name) ?? []))].sort();
  }

  /** A client requests an operation under a new name. */
  begin(name: string, operation: Operation): Worlds {
    return this.#transition(`${name} begins`, () =>
      this.#worlds
        .values()
        .map(({ state, waiting, due }) =>
          newWorld(state, new Map(waiting).set(name, { operation, leftOpen: false }), due),
        ),
    );
  }

  /** The client of an operation gets its response. */
  end(name: string, response: string): Worlds {
    return this.#transition(`${name} gets ${response}`, () => {
      if (claimsNothing(response))
        return this.#worlds.values().map((world) => leaveOpen(world, name));
      const got = this.#after().filter(({ due }) => due.get(name) === response);
      return got.map(({ state, waiting, due }) => newWorld(state, waiting, without(due, name)));
    });
  }

  /** An observer reads the order. */
  see(state: OrderState): Worlds {
    return this.#transition(`the order is ${state}`, () =>
      this.#after().filter((world) => world.state === state),
    );
  }

  /** The worlds after an event. It is computed once, and equal sets of worlds are one object. */
  #transition(event: string, change: () => Iterable<World>): Worlds {
    const found = this.#next.get(event);
    if (found) return found;
    const worlds = new Worlds(change(), this.#known);
    const next = this.#known.get(worlds.key) ?? worlds;
    this.#known.set(worlds.key, next);
    this.#next.set(event, next);
    return next;
  }

  /** These worlds, and all that follow when waiting operations take effect, in every order. */
  #after(): World[] {
    const reached = new Map(this.#worlds);
    // Iterating over a map includes what is added on the way.
    for (const world of reached.values()) {
      for (const name of world.waiting.keys()) {
        const next = takeEffect(world, name);
        if (next !== undefined) reached.set(next.key, next);
      }
    }
    return [...reached.values()];
  }
}

function takeEffect(world: World, name: string): World | undefined {
  const found = world.waiting.get(name);
  if (found === undefined) return undefined;
  const { state, response } = perform(world.state, found.operation);
  const waiting = without(world.waiting, name);
  if (!found.leftOpen) return newWorld(state, waiting, new Map(world.due).set(name, response));
  // No response follows: only a changed order makes a difference.
  return state === world.state ? undefined : newWorld(state, waiting, world.due);
}

function leaveOpen({ state, waiting, due }: World, name: string): World {
  const found = waiting.get(name);
  const open =
    found === undefined ? waiting : new Map(waiting).set(name, { ...found, leftOpen: true });
  return newWorld(state, open, without(due, name));
}

function without<Value>(map: ReadonlyMap<string, Value>, name: string): ReadonlyMap<string, Value> {
  const rest = new Map(map);
  rest.delete(name);
  return rest;
}

function newWorld(state: OrderState, waiting: World["waiting"], due: World["due"]): World {
  const waits = Array.from(waiting, ([name, { leftOpen }]) =>
    leftOpen ? `${name} (open)` : name,
  ).sort();
  const dues = Array.from(due, ([name, response]) => `${name} ${response}`).sort();
  return { key: `${state}; waiting: ${waits}; due: ${dues}`, state, waiting, due };
}
