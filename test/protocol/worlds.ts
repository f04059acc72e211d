import { claimsNothing, type Operation, type OrderState, perform } from "./contract.ts";
import { identify } from "./remembering.ts";

/** One explanation of everything that has been seen so far. */
interface World {
  /** Equal for equal worlds. */
  key: string;
  state: OrderState;
  /** The operations whose effect or response is still to come, by name. */
  operations: Record<string, Begun>;
}

interface Begun {
  operation: Operation;
  /** The response that its client must get, once it has taken effect. */
  due?: string;
  /** Its client got a response that claims nothing: it may take effect later, or never. */
  leftOpen?: true;
}

/** What follows each set of worlds after each event. It is computed once. */
const known = new Map<string, Worlds>();

/**
 * Every world that explains what has been seen of one order. An operation takes effect at one
 * moment between its beginning and its end; if its response claims nothing, at any moment after its
 * beginning, or never. As long as one world is left, what has been seen is linearizable.
 */
export class Worlds {
  /** Equal for equal sets of worlds. */
  readonly key: string;
  readonly #worlds: readonly World[];
  /** These worlds, and all that follow when waiting operations take effect, in every order. */
  readonly #reached: readonly World[];

  private constructor(worlds: readonly World[]) {
    const reached = new Map(worlds.map((world) => [world.key, world]));
    this.#worlds = [...reached.values()];
    this.key = identify({ reached: [...reached.keys()].sort() });
    // Iterating over a map includes what is added on the way.
    for (const world of reached.values()) {
      for (const name of Object.keys(world.operations)) {
        const next = takeEffect(world, name);
        if (next !== undefined) reached.set(next.key, next);
      }
    }
    this.#reached = [...reached.values()];
  }

  static startingAs(state: OrderState) {
    return new Worlds([newWorld(state, {})]);
  }

  get none() {
    return this.#worlds.length === 0;
  }

  states() {
    return [...new Set(this.#reached.map(({ state }) => state))].sort();
  }

  /** The responses that an operation's client may get now, besides those that claim nothing. */
  responses(name: string) {
    const due = this.#reached.flatMap(({ operations }) => operations[name]?.due ?? []);
    return [...new Set(due)].sort();
  }

  begin(name: string, operation: Operation) {
    return this.#after(`${name} begins`, () =>
      this.#worlds.map((world) => changed(world, name, { operation })),
    );
  }

  end(name: string, response: string) {
    return this.#after(`${name} gets ${response}`, () => {
      if (claimsNothing(response))
        return this.#worlds.map((world) => leaveOpen(world, name));
      const explained = this.#reached.filter(
        ({ operations }) => operations[name]?.due === response,
      );
      return explained.map((world) => changed(world, name, undefined));
    });
  }

  see(state: OrderState) {
    return this.#after(`the order is ${state}`, () =>
      this.#reached.filter((world) => world.state === state),
    );
  }

  #after(event: string, change: () => World[]): Worlds {
    const key = `${this.key} ${event}`;
    const after = known.get(key) ?? new Worlds(change());
    known.set(key, after);
    return after;
  }
}

/** The world after an operation has taken effect; undefined when it can't, or nobody could tell. */
function takeEffect(world: World, name: string) {
  const begun = world.operations[name];
  if (begun === undefined || begun.due !== undefined) return undefined;
  const { state, response } = perform(world.state, begun.operation);
  if (!begun.leftOpen) return changed(world, name, { ...begun, due: response }, state);
  // No response follows: only a changed order makes a difference.
  return state === world.state ? undefined : changed(world, name, undefined, state);
}

function leaveOpen(world: World, name: string) {
  const begun = world.operations[name];
  const isOpen = begun !== undefined && begun.due === undefined;
  return changed(world, name, isOpen ? { ...begun, leftOpen: true } : undefined);
}

function changed(
  { state, operations }: World,
  name: string,
  begun: Begun | undefined,
  newState = state,
) {
  const { [name]: _, ...others } = operations;
  return newWorld(newState, begun ? { ...others, [name]: begun } : others);
}

function newWorld(state: OrderState, operations: World["operations"]) {
  const key = JSON.stringify([state, Object.entries(operations).sort()]);
  return { key, state, operations };
}
