import { claimsNothing, type Operation, type OrderState, perform } from "./contract.ts";

/** One explanation of everything that has been seen so far. */
interface World {
  /** Equal for equal worlds. */
  key: string;
  state: OrderState;
  /** The operations whose effect or response is still to come, by name. */
  operations: ReadonlyMap<string, Begun>;
}

interface Begun {
  operation: Operation;
  /** The response that its client must get, once it has taken effect. */
  due?: string;
  /** Its client got a response that claims nothing: it may take effect later, or never. */
  leftOpen?: true;
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
    return new Worlds([newWorld(state, new Map())]);
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
    const due = this.#after().flatMap(({ operations }) => operations.get(name)?.due ?? []);
    return [...new Set(due)].sort();
  }

  /** A client requests an operation under a new name. */
  begin(name: string, operation: Operation): Worlds {
    return this.#transition(`${name} begins`, () =>
      this.#worlds.values().map((world) => changed(world, name, { operation })),
    );
  }

  /** The client of an operation gets its response. */
  end(name: string, response: string): Worlds {
    return this.#transition(`${name} gets ${response}`, () => {
      if (claimsNothing(response))
        return this.#worlds.values().map((world) => leaveOpen(world, name));
      const got = this.#after().filter(
        ({ operations }) => operations.get(name)?.due === response,
      );
      return got.map((world) => changed(world, name, undefined));
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
      for (const name of world.operations.keys()) {
        const next = takeEffect(world, name);
        if (next !== undefined) reached.set(next.key, next);
      }
    }
    return [...reached.values()];
  }
}

/** The world after an operation has taken effect; undefined when it can't, or nobody could tell. */
function takeEffect(world: World, name: string): World | undefined {
  const begun = world.operations.get(name);
  if (begun === undefined || begun.due !== undefined) return undefined;
  const { state, response } = perform(world.state, begun.operation);
  if (!begun.leftOpen) return changed(world, name, { ...begun, due: response }, state);
  // No response follows: only a changed order makes a difference.
  return state === world.state ? undefined : changed(world, name, undefined, state);
}

function leaveOpen(world: World, name: string): World {
  const begun = world.operations.get(name);
  return changed(
    world,
    name,
    begun && !begun.due ? { ...begun, leftOpen: true } : undefined,
  );
}

/** The world with this operation changed, or without it. */
function changed(
  { state, operations }: World,
  name: string,
  begun: Begun | undefined,
  newState = state,
): World {
  const others = [...operations].filter(([other]) => other !== name);
  return newWorld(newState, new Map(begun ? [...others, [name, begun]] : others));
}

function newWorld(state: OrderState, operations: World["operations"]): World {
  const byName = [...operations].sort(([one], [other]) => one.localeCompare(other));
  return { key: JSON.stringify([state, byName]), state, operations };
}
